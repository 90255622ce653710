//! What reading an `interleaver.toml` needs at every value: its text, its folder, and what was wrong so far.

use std::path::Path;

use toml::de::DeValue;

use super::problem::{Problem, Severity};

pub(super) struct Reader<'a> {
    pub(super) text: &'a str,
    pub(super) root: &'a Path,
    pub(super) problems: Vec<Problem>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str, root: &'a Path) -> Self {
        Self { text, root, problems: Vec::new() }
    }

    pub(super) fn problem(&mut self, severity: Severity, range: std::ops::Range<usize>, sentence: String) {
        self.problems.push(Problem::new(severity, self.text, range, sentence));
    }
}

pub(super) fn text(value: &DeValue<'_>) -> Option<String> {
    value.as_str().map(str::to_owned)
}
