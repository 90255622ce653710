//! A folder in which files are opened, written and removed, and nothing outside of it.

#[cfg(test)]
mod tests;

use std::ffi::OsStr;
use std::fs::{DirBuilder, File};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, BufWriter, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Component, Path};

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use crate::Kind;
use crate::reading::{READ, checked, contents};

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::CLOEXEC).union(OFlags::DIRECTORY);
const NEW_FOLDER: Mode = Mode::RWXU.union(Mode::RWXG).union(Mode::RWXO);

/// Folders within folders that are removed at most: nothing that is kept lies deeper.
const DEEPEST: usize = 8;

/// An open folder. A name in it may have several parts (`schedules/x.json`); it is never absolute, goes up nowhere, and
/// no part of it is a symbolic link.
#[derive(Debug)]
pub struct Folder(OwnedFd);

/// State of a file as far as it is known without reading it: tells one version from another.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct State {
    /// Device and inode.
    pub inode: (u64, u64),
    /// In bytes.
    pub size: u64,
    /// Time of the last write: seconds since 1970, and nanoseconds.
    pub modified: (i64, u64),
}

impl State {
    #[expect(clippy::unnecessary_cast, reason = "the types differ between C libraries")]
    fn of(about: &Stat) -> Self {
        Self {
            inode: (about.st_dev as u64, about.st_ino as u64),
            size: u64::try_from(about.st_size).unwrap_or_default(),
            modified: (about.st_mtime as i64, about.st_mtime_nsec as u64),
        }
    }

    /// The state of an open file.
    ///
    /// # Errors
    /// When the operating system does not say.
    pub fn of_file(file: &File) -> io::Result<Self> {
        Ok(Self::of(&rustix::fs::fstat(file)?))
    }
}

/// Whether a name can be that of something in a folder: it has at least one part, is not absolute, and goes up nowhere.
#[must_use]
pub fn is_inside(name: &Path) -> bool {
    parts(name).is_ok_and(|parts| !parts.is_empty())
}

impl Folder {
    /// Opens a folder that the user has named; links on the way there are the user's own.
    ///
    /// # Errors
    /// When it cannot be opened, or is none.
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Self(rustix::fs::openat(CWD, path, FOLDER, Mode::empty())?))
    }

    /// The same of a folder that is made if needed.
    ///
    /// # Errors
    /// When it cannot be made or opened.
    pub fn make(path: &Path) -> io::Result<Self> {
        std::fs::create_dir_all(path)?;
        Self::open(path)
    }

    /// The same of one that is the user's alone, and made so if needed.
    ///
    /// # Errors
    /// As above, and when it belongs to another user.
    pub fn make_private(path: &Path) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(path)?;
        let folder = Self::open(path)?;
        let about = rustix::fs::fstat(&folder.0)?;
        if about.st_uid != rustix::process::geteuid().as_raw() {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "it is another user's"));
        }
        rustix::fs::fchmod(&folder.0, Mode::RWXU)?;
        Ok(folder)
    }

    /// A folder in it; an empty name stands for itself.
    ///
    /// # Errors
    /// When there is none of this name, or a part of the name is a symbolic link.
    pub fn inner(&self, name: impl AsRef<Path>) -> io::Result<Self> {
        self.walk(&parts(name.as_ref())?, false)
    }

    /// The same of one that is made if needed.
    ///
    /// # Errors
    /// When it cannot be made, or a part of the name is a symbolic link.
    pub fn make_inner(&self, name: impl AsRef<Path>) -> io::Result<Self> {
        self.walk(&parts(name.as_ref())?, true)
    }

    /// Opens a file in it for reading.
    ///
    /// # Errors
    /// When there is no regular file of this name, or it is larger than its kind may be.
    pub fn open_file(&self, name: impl AsRef<Path>, kind: Kind) -> io::Result<File> {
        let (folder, last) = self.parent(name.as_ref(), false)?;
        state(&folder, last)?;
        let file = rustix::fs::openat(&folder.0, last, READ | OFlags::NOFOLLOW, Mode::empty())?;
        checked(File::from(file), kind.largest())
    }

    /// The bytes of a file in it.
    ///
    /// # Errors
    /// As of [`Folder::open_file`], and when it cannot be read.
    pub fn read(&self, name: impl AsRef<Path>, kind: Kind) -> io::Result<Vec<u8>> {
        contents(&self.open_file(name, kind)?, kind.largest(), &mut || ())
    }

    /// The same of a file that is the user's alone.
    ///
    /// # Errors
    /// As above, and when others own it, or may use it.
    pub fn read_private(&self, name: impl AsRef<Path>, kind: Kind) -> io::Result<Vec<u8>> {
        let file = self.open_file(name, kind)?;
        let about = rustix::fs::fstat(&file)?;
        if about.st_uid != rustix::process::geteuid().as_raw() || about.st_mode & 0o077 != 0 {
            let words = "others may read or write it: remove it, and a new one is made";
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, words));
        }
        contents(&file, kind.largest(), &mut || ())
    }

    /// The state of a regular file in it.
    ///
    /// # Errors
    /// When there is no regular file of this name.
    pub fn state(&self, name: impl AsRef<Path>) -> io::Result<State> {
        let (folder, last) = self.parent(name.as_ref(), false)?;
        state(&folder, last)
    }

    /// The names of what is in it, sorted; those that are no text are left out.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn names(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.0)? {
            let entry = entry?;
            let name = entry.file_name().to_str().ok().filter(|name| ![".", ".."].contains(name));
            names.extend(name.map(str::to_owned));
        }
        names.sort();
        Ok(names)
    }

    /// Writes a file, in place of an older one, so that others see the old one or the new one whole. `mode` is what the file
    /// may be used for, as far as the user's mask permits it. Folders in the name are made if needed.
    ///
    /// # Errors
    /// When it cannot be written; nothing of it is left then.
    pub fn write_with(
        &self,
        name: impl AsRef<Path>,
        mode: u32,
        content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        let (folder, last) = self.parent(name.as_ref(), true)?;
        let (unfinished, file) = folder.unfinished(Mode::from_raw_mode(mode))?;
        let write = || -> io::Result<()> {
            let mut to = BufWriter::new(file);
            content(&mut to)?;
            to.into_inner()?.sync_all()?;
            Ok(rustix::fs::renameat(&folder.0, &unfinished, &folder.0, last)?)
        };
        write().inspect_err(|_| {
            // The fault that is told is the first one.
            let _ = rustix::fs::unlinkat(&folder.0, &unfinished, AtFlags::empty());
        })
    }

    /// Takes a file away, or a link without what it leads to; one that is not there is as good.
    ///
    /// # Errors
    /// When it cannot be removed, or is a folder.
    pub fn remove(&self, name: impl AsRef<Path>) -> io::Result<()> {
        let removed = self
            .parent(name.as_ref(), false)
            .and_then(|(folder, last)| Ok(rustix::fs::unlinkat(&folder.0, last, AtFlags::empty())?));
        match removed {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Takes a folder away with all that is in it, links without what they lead to.
    ///
    /// # Errors
    /// When something in it cannot be removed, or lies deeper than anything that is kept.
    pub fn remove_folder(&self, name: impl AsRef<Path>) -> io::Result<()> {
        let (folder, last) = self.parent(name.as_ref(), false)?;
        folder.remove_tree(last, DEEPEST)
    }

    /// Gives the file at `path`, which is no link, a further name in this folder.
    ///
    /// # Errors
    /// When the file systems differ, or the name is taken.
    pub fn link(&self, path: &Path, name: impl AsRef<Path>) -> io::Result<()> {
        let (folder, last) = self.parent(name.as_ref(), true)?;
        Ok(rustix::fs::linkat(CWD, path, &folder.0, last, AtFlags::empty())?)
    }

    /// Waits until no other process holds the lock of this name; others wait until the result is dropped, or its process
    /// has ended.
    ///
    /// # Errors
    /// When the file that stands for the lock cannot be made, or is no regular file.
    pub fn lock(&self, name: impl AsRef<Path>) -> io::Result<File> {
        let (folder, last) = self.parent(name.as_ref(), true)?;
        match state(&folder, last) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let how = READ.union(OFlags::NOFOLLOW).union(OFlags::CREATE);
        let file = File::from(rustix::fs::openat(&folder.0, last, how, readable())?);
        let file = checked(file, u64::MAX)?;
        file.lock()?;
        Ok(file)
    }

    fn walk(&self, parts: &[&OsStr], make: bool) -> io::Result<Self> {
        let mut folder = Self(self.0.as_fd().try_clone_to_owned()?);
        for part in parts {
            match folder.step(part) {
                Err(Errno::NOENT) if make => {
                    match rustix::fs::mkdirat(&folder.0, *part, NEW_FOLDER) {
                        // Another process was faster.
                        Ok(()) | Err(Errno::EXIST) => {}
                        Err(error) => return Err(error.into()),
                    }
                    folder = folder.step(part).map_err(|error| folder.refusal(part, error))?;
                }
                inner => folder = inner.map_err(|error| folder.refusal(part, error))?,
            }
        }
        Ok(folder)
    }

    fn step(&self, part: &OsStr) -> Result<Self, Errno> {
        Ok(Self(rustix::fs::openat(&self.0, part, FOLDER | OFlags::NOFOLLOW, Mode::empty())?))
    }

    /// Says what stands in the way where a folder was to be.
    fn refusal(&self, part: &OsStr, error: Errno) -> io::Error {
        let about = rustix::fs::statat(&self.0, part, AtFlags::SYMLINK_NOFOLLOW);
        match about.map(|about| FileType::from_raw_mode(about.st_mode)) {
            Ok(FileType::Symlink) => link(part),
            _ => error.into(),
        }
    }

    /// The folder that a name is in, and the last part of the name.
    fn parent<'a>(&self, name: &'a Path, make: bool) -> io::Result<(Self, &'a OsStr)> {
        let parts = parts(name)?;
        let (last, before) = parts.split_last().ok_or_else(|| no_name(name))?;
        Ok((self.walk(before, make)?, last))
    }

    /// A file with a name that no other file has.
    fn unfinished(&self, mode: Mode) -> io::Result<(String, File)> {
        let how = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        loop {
            let name = format!(".new-{:016x}", RandomState::new().hash_one(0));
            match rustix::fs::openat(&self.0, &name, how, mode) {
                Err(Errno::EXIST) => {}
                file => return Ok((name, File::from(file?))),
            }
        }
    }

    fn remove_tree(&self, name: &OsStr, depth: usize) -> io::Result<()> {
        let inner = match self.step(name) {
            Err(Errno::NOENT) => return Ok(()),
            // A file, or a link to something.
            Err(Errno::NOTDIR | Errno::LOOP) => {
                return Ok(rustix::fs::unlinkat(&self.0, name, AtFlags::empty())?);
            }
            inner => inner?,
        };
        let depth =
            depth.checked_sub(1).ok_or_else(|| io::Error::other("it has too many folders in folders"))?;
        for entry in Dir::read_from(&inner.0)? {
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name != "." && name != ".." {
                inner.remove_tree(name, depth)?;
            }
        }
        Ok(rustix::fs::unlinkat(&self.0, name, AtFlags::REMOVEDIR)?)
    }
}

fn readable() -> Mode {
    Mode::RUSR | Mode::WUSR | Mode::RGRP | Mode::WGRP | Mode::ROTH | Mode::WOTH
}

/// The state of a regular file.
fn state(folder: &Folder, name: &OsStr) -> io::Result<State> {
    let about = rustix::fs::statat(&folder.0, name, AtFlags::SYMLINK_NOFOLLOW)?;
    match FileType::from_raw_mode(about.st_mode) {
        FileType::RegularFile => Ok(State::of(&about)),
        FileType::Symlink => Err(link(name)),
        FileType::Directory => Err(io::ErrorKind::IsADirectory.into()),
        _ => Err(io::Error::other(format!("`{}` is not a regular file", name.display()))),
    }
}

fn link(name: &OsStr) -> io::Error {
    io::Error::other(format!("`{}` is a symbolic link", name.display()))
}

fn parts(name: &Path) -> io::Result<Vec<&OsStr>> {
    let part = |part| match part {
        Component::Normal(part) => Some(part),
        _ => None,
    };
    name.components().map(part).collect::<Option<Vec<_>>>().ok_or_else(|| no_name(name))
}

fn no_name(name: &Path) -> io::Error {
    let words = format!("`{}` is no name of something in a folder", name.display());
    io::Error::new(io::ErrorKind::InvalidInput, words)
}
