//! The command that a schedule would have run, for a person to decide on.

use std::collections::BTreeMap;
use std::env;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};

use ptrace_backend::preflight;

use crate::escaping::escaped;
use crate::input::environment;
use crate::schedule_file::SavedTarget;
use crate::shell::shown_word;

/// A command that would run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Running {
    /// The schedule file.
    pub file: PathBuf,
    /// The program.
    pub program: PathBuf,
    /// The name that it is called by, where that is another one than its file's.
    pub name: Option<OsString>,
    /// Whether it is the build that the schedule is of.
    pub is_its_build: bool,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Its working directory.
    pub directory: PathBuf,
    /// The file that it reads as its standard input.
    pub stdin: Option<PathBuf>,
    /// The command of its client.
    pub client: Option<String>,
    /// The variables that are not what an exploration in this environment would give.
    pub environment: BTreeMap<String, OsString>,
}

impl Running {
    /// The command that a target comes to in the checkout at `root`. Nothing is run for that.
    pub(super) fn of(file: &Path, target: &SavedTarget, root: &Path) -> Self {
        let real = |path: PathBuf| path.canonicalize().unwrap_or(path);
        let program = real(target.program.in_checkout(root));
        let environment = target.environment.iter().map(|(name, value)| (name.clone(), value.0.clone()));
        let here = environment::with_changes(env::vars_os(), &Vec::new());
        let is_here = |(name, value): &(String, OsString)| {
            here.iter().any(|(known, here)| known.as_os_str() == name.as_str() && here == value)
        };
        let is_other = |name: &OsString| Path::new(name).file_name() != program.file_name();
        Self {
            file: file.to_owned(),
            is_its_build: preflight::inspect(&program).is_ok_and(|found| found.build_id == target.build_id),
            name: target.name.as_ref().map(|name| name.0.clone()).filter(is_other),
            program,
            arguments: target.arguments.iter().map(|argument| argument.0.clone()).collect(),
            directory: real(target.directory.in_checkout(root)),
            stdin: target.stdin.as_ref().map(|place| real(place.in_checkout(root))),
            client: Some(target.client.clone()).filter(|client| !client.is_empty()),
            environment: environment.filter(|variable| !is_here(variable)).collect(),
        }
    }

    /// The command line as a shell would take it, with the variables before it.
    fn command(&self) -> String {
        let variables = self
            .environment
            .iter()
            .map(|(name, value)| format!("{}={}", shown_word(name), shown_word(&value.to_string_lossy())));
        let called = self.name.iter().flat_map(|name| [OsStr::new("exec"), OsStr::new("-a"), name]);
        let words = called.chain([self.program.as_os_str()]).chain(self.arguments.iter().map(AsRef::as_ref));
        let words = words.map(|word| shown_word(&word.to_string_lossy()).into_owned());
        let input = self.stdin.iter().map(|file| format!("< {}", shown_word(&file.to_string_lossy())));
        let client = self.client.iter().map(|client| format!("(with the client {client})"));
        variables.chain(words).chain(input).chain(client).collect::<Vec<_>>().join(" ")
    }

    /// The text before the user is asked, several lines.
    #[must_use]
    pub fn lines(&self) -> String {
        let build =
            if self.is_its_build { "" } else { "\n  which is another build than that of the schedule" };
        format!(
            "`{}` was not saved on this machine by you, for this folder. Replaying it runs\n  {}\n  in {}{build}\n",
            escaped(&self.file.to_string_lossy()),
            escaped(&self.command()),
            escaped(&shown_word(&self.directory.to_string_lossy())),
        )
    }
}

/// One sentence; nothing has been run.
impl fmt::Display for Running {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let build = if self.is_its_build { "" } else { ", another build than that of the schedule" };
        write!(
            f,
            "`{}` was not saved on this machine by you, for this folder, and would run `{}` in `{}`{build}",
            self.file.display(),
            self.command(),
            self.directory.display()
        )
    }
}
