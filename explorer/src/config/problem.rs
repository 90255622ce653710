//! What is wrong with an `interleaver.toml`, and where.

use std::io;
use std::ops::Range;
use std::path::Path;

use serde::Serialize;

/// The name of the file, at the root of a workspace.
pub const FILE: &str = "interleaver.toml";

/// How bad it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// The value is not used.
    Error,
    /// It says nothing that is understood.
    Warning,
}

/// Something wrong in an `interleaver.toml`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Problem {
    /// How bad it is.
    pub severity: Severity,
    /// Where it begins: the line, from 1.
    pub line: u32,
    /// The column, from 1, in characters.
    pub column: u32,
    /// Where it is in the text, in bytes.
    pub range: Range<usize>,
    /// One sentence.
    pub sentence: String,
}

impl Problem {
    pub(super) fn new(severity: Severity, text: &str, range: Range<usize>, sentence: String) -> Self {
        let before = text.get(..range.start).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().map_or(0, |start| start.chars().count()) + 1;
        let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Self { severity, line: number(line), column: number(column), range, sentence }
    }

    pub(super) fn of_file(path: &Path, error: &io::Error) -> Self {
        let sentence = format!("`{}` cannot be read: {error}", path.display());
        Self { severity: Severity::Error, line: 1, column: 1, range: 0..0, sentence }
    }
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}, line {}, column {}: {}", FILE, self.line, self.column, self.sentence)
    }
}
