//! The texts of source files, each read once.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::macro_call::{Argument, arguments_in};
use crate::discover::source_line::SourceLine;

/// The texts of source files, each read once.
#[derive(Default)]
pub(super) struct Sources(HashMap<PathBuf, Option<String>>);

impl Sources {
    pub(super) fn text(&mut self, file: &Path) -> Option<&str> {
        if !self.0.contains_key(file) {
            self.0.insert(file.to_owned(), files::read_text(file, files::Kind::Text).ok());
        }
        self.0.get(file)?.as_deref()
    }

    /// The arguments of the first of the macros that is called in the line.
    pub(super) fn macro_at(&mut self, at: &SourceLine, macros: &[&str]) -> Option<(String, Vec<Argument>)> {
        arguments_in(self.text(&at.file)?, at.line, macros)
    }
}
