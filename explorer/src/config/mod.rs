//! `interleaver.toml`: what a project says about how it is built, run and explored. See `docs/configuration.md`.

mod parse;
mod problem;
mod schema;
mod setting;
mod suppress;
#[cfg(test)]
mod tests;

use std::io;
use std::path::{Path, PathBuf};

pub use problem::{Problem, Severity};
pub use schema::{Key, Section, ValueKind, schema};
pub(crate) use setting::Defaults;
pub use setting::{SETTINGS, Setting, Settings, Value};
pub use suppress::{Suppression, Suppressions};

use crate::input::project_root::root_of;

/// The name of the file, at the root of a workspace.
pub const FILE: &str = "interleaver.toml";

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
    /// Data races that are known.
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
    /// Reads the `interleaver.toml` of a workspace. Where there is none, it says nothing. What is wrong in it is left out,
    /// and is among the problems.
    #[must_use]
    pub fn read(root: &Path) -> (Self, Vec<Problem>) {
        let path = root.join(FILE);
        match files::read_text(&path, files::Kind::Settings) {
            Ok(text) => Self::parse(&text, root),
            Err(error) if error.kind() == io::ErrorKind::NotFound => (Self::default(), Vec::new()),
            Err(error) => (Self::default(), vec![Problem::of_file(&path, &error)]),
        }
    }

    /// How a program is explored, and what is assumed, as the `interleaver.toml` at the root of its checkout says, and what is wrong in that.
    #[must_use]
    pub fn about(program: &Path) -> (Settings, Vec<String>, Vec<Problem>) {
        let here = Path::new(".").canonicalize().unwrap_or_default();
        let program = program.canonicalize().unwrap_or_else(|_| here.join(program));
        let (config, problems) = Self::read(&root_of(&program, &here));
        let own = config.of_program(&program);
        let settings = own.map(|target| target.settings).unwrap_or_default().or(&config.settings);
        let assume = own.and_then(|target| target.assume.clone()).unwrap_or(config.assume);
        (settings, assume, problems)
    }

    /// Reads a text as the `interleaver.toml` of the workspace `root`.
    #[must_use]
    pub fn parse(text: &str, root: &Path) -> (Self, Vec<Problem>) {
        parse::parse(text, root)
    }

    /// What it says of a program without giving it a name of its own.
    #[must_use]
    pub fn of_program(&self, program: &Path) -> Option<&TargetConfig> {
        self.targets.iter().find(|target| target.name.is_none() && target.program == program)
    }
}
