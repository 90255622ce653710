//! The content of an `interleaver.toml`.

use std::path::{Path, PathBuf};

use super::setting::Settings;
use super::suppress::Suppression;

/// Content of an `interleaver.toml`. Paths are absolute.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Config {
    /// The command that builds everything.
    pub build: Option<String>,
    /// Further folders in which programs are looked for.
    pub search: Vec<PathBuf>,
    /// Folders and files in which none are looked for.
    pub ignore: Vec<PathBuf>,
    /// Settings for the exploration of every program.
    pub settings: Settings,
    /// The runs of single programs, in the order of the file.
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
    /// The file that it reads as its standard input.
    pub stdin: Option<PathBuf>,
    /// Variables that are set for it.
    pub variables: Vec<(String, String)>,
    /// Whether it creates threads.
    pub creates_threads: Option<bool>,
    /// Settings for its exploration.
    pub settings: Settings,
    /// The line of the file at which it begins, from 1.
    pub line: u32,
}

impl Config {
    /// The entry for a program that does not give it a name of its own.
    #[must_use]
    pub fn of_program(&self, program: &Path) -> Option<&TargetConfig> {
        self.targets.iter().find(|target| target.name.is_none() && target.program == program)
    }
}
