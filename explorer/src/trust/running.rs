//! What a schedule would have run, for a person to decide on.

use std::collections::BTreeMap;
use std::env;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};

use ptrace_backend::preflight;

use crate::input::environment;
use crate::schedule_file::SavedTarget;
use crate::shown::escaped;

/// What would run.
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
    /// What it reads.
    pub stdin: Option<PathBuf>,
    /// The variables that are not what an exploration in this environment would give.
    pub environment: BTreeMap<String, OsString>,
}

impl Running {
    /// What a target comes to in the checkout at `root`. Nothing is run for that.
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
            environment: environment.filter(|variable| !is_here(variable)).collect(),
        }
    }

    /// The command line as a shell would take it, with the variables before it.
    fn command(&self) -> String {
        let variables = self.environment.iter().map(|(name, value)| {
            let value = quoted(&value.to_string_lossy());
            if is_plain(name) { format!("{name}={value}") } else { format!("{}={value}", quoted(name)) }
        });
        let called = self.name.iter().flat_map(|name| [OsStr::new("exec"), OsStr::new("-a"), name]);
        let words = called.chain([self.program.as_os_str()]).chain(self.arguments.iter().map(AsRef::as_ref));
        let words = words.map(|word| quoted(&word.to_string_lossy()));
        let input = self.stdin.iter().map(|file| format!("< {}", quoted(&file.to_string_lossy())));
        variables.chain(words).chain(input).collect::<Vec<_>>().join(" ")
    }

    /// What is said before the user is asked, several lines.
    #[must_use]
    pub fn lines(&self) -> String {
        let build =
            if self.is_its_build { "" } else { "\n  which is another build than that of the schedule" };
        format!(
            "`{}` was not saved on this machine by you, for this folder. Replaying it runs\n  {}\n  in {}{build}\n",
            escaped(&self.file.to_string_lossy()),
            escaped(&self.command()),
            escaped(&quoted(&self.directory.to_string_lossy())),
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

fn is_plain(word: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./=:,+@%".contains(c);
    !word.is_empty() && word.chars().all(plain)
}

/// A word as a shell takes it; with what a terminal would obey as `$'…'` has it.
fn quoted(word: &str) -> String {
    match word {
        word if is_plain(word) => word.to_owned(),
        word if word.chars().any(char::is_control) => {
            let inside: String = word
                .chars()
                .map(|c| match c {
                    '\'' | '\\' => format!("\\{c}"),
                    c if c.is_control() => format!("\\u{:04x}", u32::from(c)),
                    c => c.to_string(),
                })
                .collect();
            format!("$'{inside}'")
        }
        word => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn words_are_as_a_shell_takes_them() {
        for (word, expected) in [
            ("-c", "-c"),
            ("", "''"),
            ("rm -rf ~", "'rm -rf ~'"),
            ("it's", r"'it'\''s'"),
            ("a\nb", r"$'a\u000ab'"),
        ] {
            assert_eq!(quoted(word), expected);
        }
    }
}
