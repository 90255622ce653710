//! The server's commands: names and arguments. See `docs/protocol.md`.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tower_lsp::ls_types::Uri;

/// The prefix of all of them.
const PREFIX: &str = "interleaver.server.";

/// Commands that the client runs itself, if it says so.
pub(crate) mod client {
    pub(crate) const REPLAY: &str = "interleaver.replay";
    pub(crate) const PICK_PROGRAM: &str = "interleaver.pickProgram";
    pub(crate) const WHY_NO_LENS: &str = "interleaver.whyNoLens";
    pub(crate) const OPEN_CONFIGURATION: &str = "interleaver.openConfiguration";
    pub(crate) const COPY_SCHEDULE: &str = "interleaver.copySchedule";
    pub(crate) const SHOW_FINDING: &str = "interleaver.showFinding";
}

/// A command with its argument.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Command {
    Explore(Explore),
    Check(OfFinding),
    Minimise(OfFinding),
    Cancel(Cancel),
    Select(OfFinding),
    Show(OfFinding),
    Dismiss(OfFinding),
    Restore(OfTarget),
    WhyNoLens(AtLine),
    Programs(OfFile),
    Tree,
    Configuration(Configured),
}

#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
pub(crate) struct Explore {
    /// Absent where nothing has been built yet.
    pub(crate) target: Option<String>,
    pub(crate) uri: Option<Uri>,
    /// The name that the lens stands above, where nothing has been built yet.
    pub(crate) name: Option<String>,
    #[serde(default)]
    pub(crate) further: bool,
}

#[derive(Clone, PartialEq, Debug, Deserialize)]
pub(crate) struct Cancel {
    pub(crate) job: Option<u64>,
    pub(crate) target: Option<String>,
}

#[derive(Clone, PartialEq, Debug, Deserialize)]
pub(crate) struct OfFinding {
    pub(crate) finding: String,
}

#[derive(Clone, PartialEq, Debug, Deserialize)]
pub(crate) struct OfTarget {
    pub(crate) target: String,
}

/// The object to configure: the arguments of a target, or the build of a file.
#[derive(Clone, PartialEq, Debug, Deserialize)]
pub(crate) struct Configured {
    pub(crate) target: Option<String>,
    pub(crate) uri: Option<Uri>,
}

#[derive(Clone, PartialEq, Debug, Deserialize)]
pub(crate) struct OfFile {
    pub(crate) uri: Uri,
}

#[derive(Clone, PartialEq, Debug, Deserialize)]
pub(crate) struct AtLine {
    pub(crate) uri: Uri,
    pub(crate) line: Option<u32>,
}

const NAMES: [&str; 12] = [
    "explore",
    "check",
    "minimise",
    "cancel",
    "select",
    "show",
    "dismiss",
    "restore",
    "whyNoLens",
    "programs",
    "tree",
    "configuration",
];

/// The names of all commands.
pub(crate) fn names() -> Vec<String> {
    NAMES.into_iter().map(name).collect()
}

/// The full name of a command.
pub(crate) fn name(short: &str) -> String {
    format!("{PREFIX}{short}")
}

impl Command {
    /// # Errors
    /// When there is no such command, or its argument is not what the protocol says; a sentence.
    pub(crate) fn read(name: &str, mut arguments: Vec<Value>) -> Result<Self, String> {
        let argument = if arguments.is_empty() { json!({}) } else { arguments.swap_remove(0) };
        let short = name.strip_prefix(PREFIX).unwrap_or_default();
        match short {
            "explore" => read(name, argument).map(Self::Explore),
            "check" => read(name, argument).map(Self::Check),
            "minimise" => read(name, argument).map(Self::Minimise),
            "cancel" => read(name, argument).map(Self::Cancel),
            "select" => read(name, argument).map(Self::Select),
            "show" => read(name, argument).map(Self::Show),
            "dismiss" => read(name, argument).map(Self::Dismiss),
            "restore" => read(name, argument).map(Self::Restore),
            "whyNoLens" => read(name, argument).map(Self::WhyNoLens),
            "programs" => read(name, argument).map(Self::Programs),
            "tree" => Ok(Self::Tree),
            "configuration" => read(name, argument).map(Self::Configuration),
            _ => Err(format!("`{name}` is no command of this server")),
        }
    }
}

fn read<T: DeserializeOwned>(name: &str, argument: Value) -> Result<T, String> {
    serde_json::from_value(argument).map_err(|error| format!("`{name}` takes another argument: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_a_command() {
        for short in NAMES {
            let argument = json!({
                "target": "app", "finding": "app-1/crash-2", "uri": "file:///p/a.c", "further": true, "line": 3,
            });
            assert!(Command::read(&name(short), vec![argument]).is_ok(), "{short}");
        }
    }

    #[test]
    fn wrong_arguments_are_a_sentence() {
        let error = Command::read("interleaver.server.check", vec![json!({ "finding": 7 })]).unwrap_err();
        assert!(error.starts_with("`interleaver.server.check` takes another argument: "), "{error}");
        let error = Command::read("interleaver.server.fly", Vec::new()).unwrap_err();
        assert_eq!(error, "`interleaver.server.fly` is no command of this server");
        assert!(Command::read("interleaver.replay", Vec::new()).is_err());
    }
}
