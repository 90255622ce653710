//! Reads regular files that are not too large.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use rustix::fs::{CWD, FileType, Mode, OFlags};

use crate::Kind;

/// Flags for opening files: a pipe without a writer must not keep the caller waiting, and no terminal becomes the process's
/// own.
pub(crate) const READ: OFlags =
    OFlags::RDONLY.union(OFlags::CLOEXEC).union(OFlags::NONBLOCK).union(OFlags::NOCTTY);

/// So many bytes are read at once.
const PART: u64 = 1 << 20;

/// Opens a regular file of a kind. Symbolic links are followed.
///
/// # Errors
/// When it cannot be opened, is no regular file, or is larger than its kind may be.
pub fn open(path: &Path, kind: Kind) -> io::Result<File> {
    open_within(path, kind.largest())
}

/// The same for a file of at most so many bytes.
///
/// # Errors
/// As above.
pub fn open_within(path: &Path, largest: u64) -> io::Result<File> {
    // A device may do something when it is opened.
    let about = rustix::fs::stat(path)?;
    check_type(FileType::from_raw_mode(about.st_mode))?;
    let file = File::from(rustix::fs::openat(CWD, path, READ, Mode::empty())?);
    checked(file, largest)
}

/// The bytes of a regular file of a kind. Symbolic links are followed.
///
/// # Errors
/// When it cannot be read, is no regular file, or is larger than its kind may be.
pub fn read(path: &Path, kind: Kind) -> io::Result<Vec<u8>> {
    read_within(path, kind.largest())
}

/// The same for a file of at most so many bytes.
///
/// # Errors
/// As above.
pub fn read_within(path: &Path, largest: u64) -> io::Result<Vec<u8>> {
    contents(&open_within(path, largest)?, largest, &mut || ())
}

/// The bytes of a regular file of a kind, where `look` is called before each part of it that takes no time to read. Symbolic
/// links are followed.
///
/// # Errors
/// As above.
pub fn read_in_parts(path: &Path, kind: Kind, mut look: impl FnMut()) -> io::Result<Vec<u8>> {
    contents(&open(path, kind)?, kind.largest(), &mut look)
}

/// The text of a regular file of a kind.
///
/// # Errors
/// When it cannot be read, is no regular file, is larger than its kind may be, or is not UTF-8.
pub fn read_text(path: &Path, kind: Kind) -> io::Result<String> {
    text(read(path, kind)?)
}

pub(crate) fn text(bytes: Vec<u8>) -> io::Result<String> {
    String::from_utf8(bytes).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8 text"))
}

/// A file that was opened, if it is a regular one of at most so many bytes.
pub(crate) fn checked(file: File, largest: u64) -> io::Result<File> {
    let about = rustix::fs::fstat(&file)?;
    check_type(FileType::from_raw_mode(about.st_mode))?;
    match u64::try_from(about.st_size) {
        Ok(size) if size <= largest => Ok(file),
        _ => Err(too_large(largest)),
    }
}

/// The rest of a file. It may have grown since it was opened.
pub(crate) fn contents(mut file: &File, largest: u64, look: &mut dyn FnMut()) -> io::Result<Vec<u8>> {
    let size = file.metadata()?.len().min(largest);
    let mut bytes = Vec::new();
    let room = usize::try_from(size).unwrap_or_default();
    bytes.try_reserve(room).map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?;
    loop {
        look();
        let room = largest.saturating_add(1) - bytes.len() as u64;
        if file.by_ref().take(room.min(PART)).read_to_end(&mut bytes)? == 0 {
            return Ok(bytes);
        }
        if bytes.len() as u64 > largest {
            return Err(too_large(largest));
        }
    }
}

fn check_type(found: FileType) -> io::Result<()> {
    match found {
        FileType::RegularFile => Ok(()),
        FileType::Directory => Err(io::ErrorKind::IsADirectory.into()),
        FileType::Symlink => Err(io::Error::other("it is a symbolic link")),
        _ => Err(io::Error::other("it is not a regular file")),
    }
}

fn too_large(largest: u64) -> io::Error {
    let words = match largest {
        0..1024 => format!("{largest} bytes"),
        1024..0x10_0000 => format!("{} KiB", largest >> 10),
        _ => format!("{} MiB", largest >> 20),
    };
    io::Error::new(io::ErrorKind::FileTooLarge, format!("it is larger than {words}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_regular_file_is_not_opened() {
        let folder = tempfile::tempdir().expect("a folder");
        let pipe = folder.path().join("pipe");
        rustix::fs::mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a pipe");
        let zero = folder.path().join("zero");
        std::os::unix::fs::symlink("/dev/zero", &zero).expect("a link");
        for path in [pipe, zero] {
            assert_eq!(
                read(&path, Kind::Text).expect_err("no regular file").to_string(),
                "it is not a regular file"
            );
        }
        let error = read(folder.path(), Kind::Text).expect_err("a folder");
        assert_eq!(error.kind(), io::ErrorKind::IsADirectory);
    }

    #[test]
    fn what_is_too_large_is_not_read() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        file.as_file().set_len(Kind::Settings.largest()).expect("a hole");
        assert_eq!(
            read(file.path(), Kind::Settings).expect("allowed").len() as u64,
            Kind::Settings.largest()
        );
        file.as_file().set_len(1 << 40).expect("a larger hole");
        let error = read(file.path(), Kind::Settings).expect_err("too large").to_string();
        assert_eq!(error, "it is larger than 4 MiB");
    }
}
