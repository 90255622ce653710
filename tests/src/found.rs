//! A finding to replay: a program built, explored, and the schedule that makes it fail.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::build::{Build, Optimisation};
use crate::paths;
use crate::tool::Tool;

/// A schedule with what belongs to it.
pub struct Found {
    /// The executable.
    pub program: PathBuf,
    /// The schedule file.
    pub schedule: PathBuf,
    /// The source, with its lines.
    pub source: PathBuf,
    _folder: TempDir,
}

impl Found {
    /// Builds and explores `source`, relative to the targets' folder.
    ///
    /// # Panics
    /// When it does not compile, or nothing is found.
    #[must_use]
    pub fn in_target(source: &str, level: Optimisation) -> Self {
        Self::with(source, level, &[])
    }

    /// The same with options of the exploration.
    ///
    /// # Panics
    /// When it does not compile, or nothing is found.
    #[must_use]
    pub fn with(source: &str, level: Optimisation, options: &[&str]) -> Self {
        let program = Build::new(source, level).program().unwrap_or_else(|error| panic!("{error}"));
        Self::of_program(program, &paths::targets().join(source), options)
    }

    /// Explores a program that is there already.
    ///
    /// # Panics
    /// When nothing is found.
    #[must_use]
    pub fn of_program(program: PathBuf, source: &Path, options: &[&str]) -> Self {
        Self::explored(program, source, |place, program| {
            Tool::explore(place.into_iter().chain(options.iter().map(OsStr::new)), program)
        })
    }

    /// Builds, explores and explains `source`: there is a schedule that passes then.
    ///
    /// # Panics
    /// When it does not compile, or nothing is found.
    #[must_use]
    pub fn explained(source: &str, level: Optimisation) -> Self {
        let program = Build::new(source, level).program().unwrap_or_else(|error| panic!("{error}"));
        Self::explained_with_arguments(program, &paths::targets().join(source), &[])
    }

    /// Explores a program that is given arguments, and explains what is found.
    ///
    /// # Panics
    /// When nothing is found.
    #[must_use]
    pub fn explained_with_arguments(program: PathBuf, source: &Path, arguments: &[&str]) -> Self {
        Self::explored(program, source, |place, program| Tool::explain(place, program).and(arguments))
    }

    /// Explores a program that is given arguments.
    ///
    /// # Panics
    /// When nothing is found.
    #[must_use]
    pub fn with_arguments(program: PathBuf, source: &Path, arguments: &[&str]) -> Self {
        Self::explored(program, source, |place, program| Tool::explore(place, program).and(arguments))
    }

    fn explored(program: PathBuf, source: &Path, tool: impl Fn([&OsStr; 2], &Path) -> Tool) -> Self {
        let folder = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
        let place = ["--output".as_ref(), folder.path().as_os_str()];
        let outcome = tool(place, &program).run().unwrap_or_else(|error| panic!("{error}"));
        let Some(schedule) = outcome.finding()["schedule_file"].as_str() else {
            panic!("nothing was found:\n{}", outcome.transcript());
        };
        let schedule = paths::workspace().join(schedule);
        Self { program, schedule, source: source.to_owned(), _folder: folder }
    }

    /// The line, from 1, that holds a text; the first of several.
    ///
    /// # Panics
    /// When there is none.
    #[must_use]
    pub fn line(&self, text: &str) -> u64 {
        let content = std::fs::read_to_string(&self.source).unwrap_or_else(|error| panic!("{error}"));
        let at = content.lines().position(|line| line.contains(text));
        at.unwrap_or_else(|| panic!("no line of {} holds `{text}`", self.source.display())) as u64 + 1
    }
}
