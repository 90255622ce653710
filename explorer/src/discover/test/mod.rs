//! Tests, recognised by what their frameworks make of them: functions with telling names, at the line of the test.

mod catch2;
mod doctest;
mod gtest;
mod macro_call;
mod rust;
mod selection;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use ptrace_backend::debuginfo::Image;

use super::functions::Functions;
use super::source_line::SourceLine;

pub(super) use macro_call::{Argument, arguments_in};

/// A test in a test binary.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Test {
    /// What runs it.
    pub framework: Framework,
    /// Its name, as the framework lists it; `*` stands for the instances of a parameterised test.
    pub name: String,
    /// Where it stands.
    pub at: SourceLine,
    /// What tells the binary to run this test alone.
    pub arguments: Vec<String>,
    /// Why they do not, in one sentence with what to do.
    pub ambiguity: Option<String>,
    /// Its name, as the framework lists it; of a template, what the names of its instances begin with.
    listed: String,
    is_template: bool,
}

/// What runs tests.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Framework {
    /// Rust's own harness.
    Rust,
    /// GoogleTest.
    GoogleTest,
    /// Catch2, version 2 or 3.
    Catch2,
    /// doctest.
    Doctest,
}

impl Framework {
    fn name(self) -> &'static str {
        match self {
            Self::Rust => "Rust's test harness",
            Self::GoogleTest => "GoogleTest",
            Self::Catch2 => "Catch2",
            Self::Doctest => "doctest",
        }
    }
}

/// The tests of a program, by file and line.
pub(super) fn tests(image: &Image, functions: &Functions) -> Vec<Test> {
    let mut sources = Sources::default();
    let mut found = rust::tests(functions, &mut sources);
    found.extend(gtest::tests(image, functions, &mut sources));
    found.extend(catch2::tests(functions, &mut sources));
    found.extend(doctest::tests(functions, &mut sources));
    found.sort_by(|a, b| (&a.at.file, a.at.line, &a.name).cmp(&(&b.at.file, b.at.line, &b.name)));
    // The instances of a template are one test.
    found.dedup_by(|later, earlier| later.at == earlier.at && later.name == earlier.name);
    let ambiguities: Vec<_> = found.iter().map(|test| selection::ambiguity(test, &found)).collect();
    for (test, ambiguity) in found.iter_mut().zip(ambiguities) {
        test.ambiguity = ambiguity;
    }
    found
}

/// The texts of source files, each read once.
#[derive(Default)]
pub(super) struct Sources(HashMap<PathBuf, Option<String>>);

impl Sources {
    fn text(&mut self, file: &Path) -> Option<&str> {
        if !self.0.contains_key(file) {
            self.0.insert(file.to_owned(), files::read_text(file, files::Kind::Text).ok());
        }
        self.0.get(file)?.as_deref()
    }

    /// The arguments of the first of the macros that is called in the line.
    fn macro_at(&mut self, at: &SourceLine, macros: &[&str]) -> Option<(String, Vec<Argument>)> {
        arguments_in(self.text(&at.file)?, at.line, macros)
    }
}
