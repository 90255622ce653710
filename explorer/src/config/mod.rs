//! `interleaver.toml`: a project's settings for being built, run and explored. See `docs/configuration.md`.

mod content;
mod parse;
mod problem;
mod reader;
mod schema;
mod setting;
mod suppress;
#[cfg(test)]
mod tests;
mod value_kind;

use std::io;
use std::path::Path;

pub use content::{Config, TargetConfig};
pub use problem::{FILE, Problem, Severity};
pub use schema::{Key, schema};
pub(crate) use setting::Defaults;
pub use setting::{SETTINGS, Section, Setting, Settings, Value};
pub use suppress::{Suppression, Suppressions};
pub use value_kind::ValueKind;

use crate::input::project_root::root_of;

impl Config {
    /// Reads the `interleaver.toml` of a workspace. Where there is none, it says nothing. Wrong parts of it are left out,
    /// and are among the problems.
    #[must_use]
    pub fn read(root: &Path) -> (Self, Vec<Problem>) {
        let path = root.join(FILE);
        match files::read_text(&path, files::Kind::Settings) {
            Ok(text) => Self::parse(&text, root),
            Err(error) if error.kind() == io::ErrorKind::NotFound => (Self::default(), Vec::new()),
            Err(error) => (Self::default(), vec![Problem::of_file(&path, &error)]),
        }
    }

    /// Settings for a program's exploration and the assumptions, from the `interleaver.toml` at the root of its checkout,
    /// with the problems of that file.
    #[must_use]
    pub fn about(program: &Path) -> (Settings, Vec<Problem>) {
        let here = Path::new(".").canonicalize().unwrap_or_default();
        let program = program.canonicalize().unwrap_or_else(|_| here.join(program));
        let (config, problems) = Self::read(&root_of(&program, &here));
        let own = config.of_program(&program);
        let settings = own.map(|target| target.settings.clone()).unwrap_or_default().or(&config.settings);
        (settings, problems)
    }

    /// Reads a text as the `interleaver.toml` of the workspace `root`.
    #[must_use]
    pub fn parse(text: &str, root: &Path) -> (Self, Vec<Problem>) {
        parse::parse(text, root)
    }
}

impl Suppressions {
    /// Reads the entries for a program from a folder's `interleaver.toml`.
    #[must_use]
    pub fn read(folder: &Path, program: &Path) -> Self {
        let (config, problems) = Config::read(folder);
        let known = config.suppressions.into_iter().filter(|known| known.is_about(program)).collect();
        let errors = problems.iter().filter(|problem| problem.severity == Severity::Error);
        Self { known, problems: errors.map(Problem::to_string).collect() }
    }
}
