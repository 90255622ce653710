//! A place in the source, and its words.

use serde::{Deserialize, Serialize};

use crate::escaping::escaped_line;

/// A place in the source.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub struct Location {
    /// The file, relative to the root if it lies in there.
    pub file: Option<String>,
    /// The line, from 1.
    pub line: Option<u32>,
    /// The function.
    pub function: Option<String>,
}

impl Location {
    /// `function, file:line`, or as much of it as is known.
    #[must_use]
    pub fn words(&self) -> String {
        let line = self.line_words();
        match (&self.function, line.is_empty()) {
            (Some(function), true) => escaped_line(function).into_owned(),
            (Some(function), false) => format!("{}, {line}", escaped_line(function)),
            (None, _) => line,
        }
    }

    /// `file:line` without the folders.
    #[must_use]
    pub fn short_words(&self) -> String {
        let line = self.line_words();
        line.rsplit('/').next().unwrap_or_default().to_owned()
    }

    /// `file:line`, or as much of it as is known.
    #[must_use]
    pub fn line_words(&self) -> String {
        match (&self.file, self.line) {
            (Some(file), Some(line)) => format!("{}:{line}", escaped_line(file)),
            (Some(file), None) => escaped_line(file).into_owned(),
            (None, _) => String::new(),
        }
    }
}
