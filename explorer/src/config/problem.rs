//! Problems of an `interleaver.toml`, with their places.

use std::io;
use std::ops::Range;
use std::path::Path;

use serde::Serialize;

/// The name of the file, at the root of a workspace.
pub const FILE: &str = "interleaver.toml";

/// Severity of a problem.
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
    /// Its severity.
    pub severity: Severity,
    /// The line at which it begins, from 1.
    pub line: u32,
    /// The column, from 1, in characters.
    pub column: u32,
    /// Its range in the text, in bytes.
    pub range: Range<usize>,
    /// One sentence.
    pub sentence: String,
}

impl Problem {
    pub(super) fn new(
        severity: Severity,
        text: &ConfigText<'_>,
        range: Range<usize>,
        sentence: String,
    ) -> Self {
        let (line, column) = text.place(range.start);
        Self { severity, line, column, range, sentence }
    }

    pub(super) fn of_file(path: &Path, error: &io::Error) -> Self {
        let sentence = format!("`{}` cannot be read: {error}", path.display());
        Self { severity: Severity::Error, line: 1, column: 1, range: 0..0, sentence }
    }
}

/// The text of the file, and where its lines begin.
pub(super) struct ConfigText<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> ConfigText<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        Self { text, starts: std::iter::once(0).chain(ends.map(|(at, _)| at + 1)).collect() }
    }

    /// The place after its last character.
    pub(super) fn end(&self) -> Range<usize> {
        self.text.len()..self.text.len()
    }

    /// The line of a place, from 1.
    pub(super) fn line(&self, at: usize) -> u32 {
        number(self.starts.partition_point(|start| *start <= at))
    }

    /// The same, and the column, from 1, in characters.
    fn place(&self, at: usize) -> (u32, u32) {
        let line = self.line(at);
        let start = self.starts.get(line as usize - 1).copied().unwrap_or_default();
        (line, number(self.text.get(start..at).map_or(0, |before| before.chars().count()) + 1))
    }
}

fn number(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}, line {}, column {}: {}", FILE, self.line, self.column, self.sentence)
    }
}
