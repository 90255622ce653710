//! Settings of a client: its own abilities, and its user's wishes. See `docs/protocol.md`.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::Value;

/// All of the settings. One that is left out has its default.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Settings {
    pub(crate) client_commands: BTreeSet<String>,
    pub(crate) runs_builds: bool,
    trusted: Option<bool>,
    pub(crate) lenses: bool,
    pub(crate) hints: bool,
    pub(crate) switch_hints: bool,
    pub(crate) budget: Budget,
}

/// Budget of an exploration where `interleaver.toml` says nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Budget {
    pub(crate) max_preemptions: u32,
    pub(crate) max_schedules: u64,
    pub(crate) time_limit_seconds: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            client_commands: BTreeSet::new(),
            runs_builds: false,
            trusted: None,
            lenses: true,
            hints: true,
            switch_hints: true,
            budget: Budget::default(),
        }
    }
}

impl Default for Budget {
    fn default() -> Self {
        Self { max_preemptions: 2, max_schedules: 10_000, time_limit_seconds: 60 }
    }
}

impl Settings {
    /// From `initializationOptions`.
    ///
    /// # Errors
    /// When it is not what the protocol says; a sentence.
    pub(crate) fn read(options: Option<Value>) -> Result<Self, String> {
        match options {
            None | Some(Value::Null) => Ok(Self::default()),
            Some(options) => serde_json::from_value(options)
                .map_err(|error| format!("the client's options are not understood: {error}")),
        }
    }

    /// From the parameters of `workspace/didChangeConfiguration`, which have them under `interleaver`.
    ///
    /// # Errors
    /// As above.
    pub(crate) fn changed(mut settings: Value) -> Result<Self, String> {
        Self::read(settings.get_mut("interleaver").map(Value::take))
    }

    /// Whether anything may be built, run or loaded. A client that does not say has asked its user by starting the server.
    pub(crate) fn may_run(&self) -> bool {
        self.trusted != Some(false)
    }

    /// Whether the client says that its user trusts the files of the workspace, whatever their origin.
    pub(crate) fn is_trusted(&self) -> bool {
        self.trusted == Some(true)
    }

    /// Whether the client can run a command itself.
    pub(crate) fn runs(&self, command: &str) -> bool {
        self.client_commands.contains(command)
    }
}
