//! The content of an `interleaver.toml`.

use std::path::{Path, PathBuf};

use super::setting::Settings;
use super::suppress::Suppression;

/// What `interleaver.toml` says. Paths are absolute.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Config {
    /// The command that builds everything.
    pub build: Option<String>,
    /// Further folders in which programs are looked for.
    pub search: Vec<PathBuf>,
    /// Folders and files in which none are looked for.
    pub ignore: Vec<PathBuf>,
    /// How everything is explored.
    pub settings: Settings,
    /// Entries of the account that the user answers for ([`crate::input::request::Request::assume`]).
    pub assume: Vec<String>,
    /// How single programs are run, in the order of the file.
    pub targets: Vec<TargetConfig>,
    /// Data races and potential deadlocks that are known.
    pub suppressions: Vec<Suppression>,
}

/// A `[[target]]`.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct TargetConfig {
    /// Its own name; without one it changes the target that was found.
    pub name: Option<String>,
    /// The executable.
    pub program: PathBuf,
    /// The command that builds it.
    pub build: Option<String>,
    /// Its arguments.
    pub arguments: Option<Vec<String>>,
    /// Its working directory.
    pub directory: Option<PathBuf>,
    /// What it reads from its standard input.
    pub stdin: Option<PathBuf>,
    /// Variables that are set for it.
    pub variables: Vec<(String, String)>,
    /// Whether it creates threads.
    pub creates_threads: Option<bool>,
    /// How it is explored.
    pub settings: Settings,
    /// Entries of the account that the user answers for.
    pub assume: Option<Vec<String>>,
    /// Where it begins in the file: the line, from 1.
    pub line: u32,
}

impl Config {
    /// What it says of a program without giving it a name of its own.
    #[must_use]
    pub fn of_program(&self, program: &Path) -> Option<&TargetConfig> {
        self.targets.iter().find(|target| target.name.is_none() && target.program == program)
    }
}
