//! A line of a source file.

use std::path::PathBuf;

use serde::Serialize;

/// A line of a source file.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize)]
pub struct SourceLine {
    /// The file: absolute, without symbolic links where it exists.
    pub file: PathBuf,
    /// The line, from 1.
    pub line: u32,
}
