//! Why a file cannot be used as an image.

use std::io;
use std::path::PathBuf;

/// The file cannot be opened as an ELF image.
#[derive(Debug, thiserror::Error)]
pub enum ImageError {
    /// The operating system refused to read it.
    #[error("cannot read `{}`: {reason}", path.display())]
    Unreadable {
        /// Which file.
        path: PathBuf,
        /// What the operating system said.
        reason: io::Error,
    },
    /// It is no complete 64-bit little-endian ELF file.
    #[error("`{}` is not a readable x86-64 ELF file: {reason}", path.display())]
    Malformed {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
}
