//! Files and folders that another process has just made, and that are to be removed later.

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, fstat, openat, statat, unlinkat};

/// A file or a folder, by the folder that it was made in and its name there. It is held open: its number is given to no other one meanwhile.
#[derive(Debug)]
pub struct Made {
    folder: OwnedFd,
    name: OsString,
    file: OwnedFd,
}

impl Made {
    /// The file or folder at this path, which is itself no link.
    ///
    /// # Errors
    /// When there is nothing of this path, or it cannot be opened.
    pub fn at(path: &Path) -> io::Result<Self> {
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(io::Error::from(io::ErrorKind::InvalidInput));
        };
        let folder = openat(CWD, parent, flags | OFlags::DIRECTORY, Mode::empty())?;
        let file = openat(&folder, name, flags | OFlags::NOFOLLOW, Mode::empty())?;
        Ok(Self { folder, name: name.to_owned(), file })
    }

    /// Whether this is another name of it.
    #[must_use]
    pub fn is_same_file(&self, other: &Self) -> bool {
        let identity = |made: &Self| fstat(&made.file).map(|found| (found.st_dev, found.st_ino)).ok();
        identity(self).is_some_and(|file| identity(other) == Some(file))
    }

    /// Takes it away, if its name still stands for it. A folder that has something in it stays.
    ///
    /// # Errors
    /// When it may not be removed.
    pub fn remove(self) -> io::Result<()> {
        let made = fstat(&self.file)?;
        let found = statat(&self.folder, &self.name, AtFlags::SYMLINK_NOFOLLOW);
        let is_it = found.is_ok_and(|found| (found.st_dev, found.st_ino) == (made.st_dev, made.st_ino));
        if !is_it {
            return Ok(());
        }
        let is_folder = FileType::from_raw_mode(made.st_mode) == FileType::Directory;
        let flags = if is_folder { AtFlags::REMOVEDIR } else { AtFlags::empty() };
        Ok(unlinkat(&self.folder, &self.name, flags)?)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn only_what_was_made_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::create_dir(path("empty")).unwrap();
        fs::create_dir(path("full")).unwrap();
        for name in ["file", "replaced", "full/other"] {
            fs::write(path(name), "").unwrap();
        }
        let made = ["empty", "full", "file", "replaced"].map(|name| Made::at(&path(name)).unwrap());
        fs::rename(path("replaced"), path("renamed")).unwrap();
        fs::write(path("replaced"), "another one").unwrap();
        let removed = made.map(|made| made.remove().is_ok());
        assert_eq!(removed, [true, false, true, true]);
        let mut left: Vec<_> =
            fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["full", "renamed", "replaced"]);
        assert!(Made::at(&path("none")).is_err());
    }
}
