//! Target of an exploration: a program, or one test in it, with everything that it is run with.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::source_line::SourceLine;
use super::test::Test;
use crate::config::Settings;
use crate::input::environment::Variables;
use crate::input::request::Request;

/// A program, or a test in it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Target {
    /// The same over builds: `build/app`, `cargo:PACKAGE:KIND:NAME`, `toml:NAME`, with `#TEST` for a test. No other target
    /// of the checkout has it.
    pub id: String,
    /// The root of the checkout, where names of programs start.
    pub root: PathBuf,
    /// Its name for people: `app`, `Suite.Name`.
    pub label: String,
    /// The executable.
    pub program: PathBuf,
    /// The build of it.
    pub build_id: String,
    /// The test; `None` for the program as a whole.
    pub test: Option<Test>,
    /// Place of its `main`, or of the test.
    pub at: Option<SourceLine>,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Its working directory.
    pub directory: PathBuf,
    /// Variables that are set in its environment.
    pub variables: Variables,
    /// Its standard input; empty if `None`.
    pub stdin: Option<PathBuf>,
    /// Settings of the configuration for exploring it.
    pub settings: Settings,
}

impl Target {
    /// The search for a user who gives nothing but `defaults`; the configuration wins over these.
    #[must_use]
    pub fn request(&self, defaults: &Settings) -> Request {
        let mut request = Request {
            arguments: self.arguments.clone(),
            directory: Some(self.directory.clone()),
            variables: self.variables.clone(),
            stdin: self.stdin.clone(),
            target: Some(self.id.clone()),
            ..Request::new(self.program.clone())
        };
        self.settings.or(defaults).apply(&mut request);
        request
    }
}

/// A target, or what could be one, at a line of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TargetAt {
    /// The target; `None` as long as nothing has been built.
    pub target: Option<Target>,
    /// Its name there: `main`, or the test's name.
    pub name: String,
    /// The line in the text, from 1.
    pub line: u32,
    /// Its standing.
    pub why: Explorability,
}

/// Says whether something can be explored as it is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Explorability {
    /// It can.
    Ready,
    /// The program is older than a source.
    Stale {
        /// The source.
        source: PathBuf,
    },
    /// There is no program with it yet.
    NotBuilt {
        /// One sentence that says how it is built.
        sentence: String,
    },
    /// It cannot be explored.
    Blocked {
        /// One sentence that says why, and what to do.
        sentence: String,
    },
}

impl Explorability {
    /// The sentence that answers why it cannot be explored as it is.
    #[must_use]
    pub fn sentence(&self) -> Option<String> {
        match self {
            Self::Ready => None,
            Self::Stale { source } => {
                Some(format!("the program is older than `{}`: it is built first", source.display()))
            }
            Self::NotBuilt { sentence } | Self::Blocked { sentence } => Some(sentence.clone()),
        }
    }
}

/// A path as people read it: relative to the workspace where it lies in there.
pub(super) fn shown(path: &Path, root: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).display().to_string()
}
