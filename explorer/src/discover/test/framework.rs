//! A test, and its framework.

use crate::discover::source_line::SourceLine;

/// A test in a test binary.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Test {
    /// The framework that runs it.
    pub framework: Framework,
    /// Its name, as the framework lists it; `*` stands for the instances of a parameterised test.
    pub name: String,
    /// Its place.
    pub at: SourceLine,
    /// The arguments that tell the binary to run this test alone.
    pub arguments: Vec<String>,
    /// The reason for which they do not, in one sentence with what to do.
    pub ambiguity: Option<String>,
    /// Its name, as the framework lists it; of a template, what the names of its instances begin with.
    pub(super) listed: String,
    pub(super) is_template: bool,
}

/// A test framework.
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
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Rust => "Rust's test harness",
            Self::GoogleTest => "GoogleTest",
            Self::Catch2 => "Catch2",
            Self::Doctest => "doctest",
        }
    }
}
