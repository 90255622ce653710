//! Reasons for which a file cannot be used as an image.

use std::io;
use std::path::PathBuf;

/// The file cannot be opened as an ELF image.
#[derive(Debug, thiserror::Error)]
pub enum ImageError {
    /// The operating system refused to read it.
    #[error("cannot read `{}`: {reason}", path.display())]
    Unreadable {
        /// Path of the file.
        path: PathBuf,
        /// The operating system's reason.
        reason: io::Error,
    },
    /// It is no complete 64-bit little-endian ELF file.
    #[error("`{}` is not a readable x86-64 ELF file: {reason}", path.display())]
    Malformed {
        /// Path of the file.
        path: PathBuf,
        /// The fault in it.
        reason: String,
    },
}
