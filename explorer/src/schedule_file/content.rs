//! The content of a schedule file: the program with its input, the choices, the outcome.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use checker::failure::FailureKind;
use checker::names::{Obj, Site};
use checker::program::Epoch;
use serde::{Deserialize, Serialize};

use super::choice::SavedChoice;
use super::{at, encode};
use crate::input::os_text::OsText;
use crate::input::portable_path::Place;
use crate::input::request::Request;
use crate::report::Location;
use crate::report::finding::old_form::thread_and_place;

/// Value of the `format` member of every schedule file.
pub const FORMAT: &str = "interleaver-schedule";

/// The version that is written of most schedules.
pub const VERSION: u32 = 1;

/// The version of long schedules, whose choices are numbers in a list of those that differ; the newest that is read.
pub(super) const LONG_VERSION: u32 = 2;

/// A saved schedule.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ScheduleFile {
    /// Always [`FORMAT`].
    pub format: String,
    /// The version of the format.
    pub version: u32,
    /// The version of the tool that wrote it.
    pub tool: String,
    /// The program that ran, and everything that it was given.
    pub target: SavedTarget,
    /// The search that found it.
    pub found_by: FoundBy,
    /// The failure that the schedule leads to; of one that passes, the one that it does without.
    pub failure: SavedFailure,
    /// The order that makes it pass; absent in a schedule that fails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passes: Option<SavedPass>,
    /// Proves which user saved it, and for which folder: see `docs/security.md`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seal: Option<String>,
    /// The choices, in order.
    #[serde(default)]
    pub choices: Vec<SavedChoice>,
}

/// The program and everything that it was given.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SavedTarget {
    /// The executable.
    pub program: Place,
    /// The symbolic link to it that the user named; absent if none was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<Place>,
    /// Identifies its build, with those of the libraries that it was explored with.
    pub build_id: String,
    /// The name that it was called by, its first argument; its path if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<OsText>,
    /// Its arguments, without its name.
    pub arguments: Vec<OsText>,
    /// Its working directory.
    pub directory: Place,
    /// Whether every execution had its own copy of the working directory.
    pub fresh_directory: bool,
    /// Its standard input; empty if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdin: Option<Place>,
    /// The command of its client; absent if it has none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub client: String,
    /// The condition for its client to begin; absent where that is that it listens.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub ready: String,
    /// The variables that change what programs do, as they were; the others are not recorded.
    pub environment: BTreeMap<String, OsText>,
    /// Whether an exit code other than 0 counted as a success.
    pub ignore_exit_code: bool,
    /// The limit of events in one execution.
    pub step_limit: u32,
    /// The limit of wall time for one execution.
    #[serde(rename = "run_timeout_ms", with = "encode::milliseconds")]
    pub run_timeout: Duration,
}

impl SavedTarget {
    /// Has a request give a program what this one was given, in the checkout at `root`.
    pub fn give(&self, request: &mut Request, root: &Path) {
        request.arguments = self.arguments.iter().map(|argument| argument.0.clone()).collect();
        request.directory = Some(self.directory.in_checkout(root));
        request.stdin = self.stdin.as_ref().map(|place| place.in_checkout(root));
        (request.client, request.ready) = (self.client.clone(), self.ready.clone());
        request.fresh_directory = self.fresh_directory;
        request.ignore_exit_code = self.ignore_exit_code;
    }

    /// The program as the user named it, for people.
    pub(crate) fn program_in_words(&self) -> String {
        self.link.as_ref().unwrap_or(&self.program).display()
    }

    /// The arguments as a person reads them.
    pub(crate) fn arguments_in_words(&self) -> String {
        let words: Vec<_> = self.arguments.iter().map(|argument| argument.0.to_string_lossy()).collect();
        words.join(" ")
    }
}

/// The search that found the schedule.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct FoundBy {
    /// The name of the search.
    pub strategy: String,
    /// The seed of its random choices.
    pub seed: u64,
    /// Number of executions that it took.
    pub schedule_number: u64,
    /// The key-point epoch in which the schedule was run.
    pub epoch: Epoch,
    /// Accesses that have to be key points for the schedule to come out.
    pub key_points: KeyPoints,
}

/// The key points of a schedule, apart from synchronisation, which always is one.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct KeyPoints {
    /// Instructions that touch shared memory.
    #[serde(with = "encode::sites")]
    pub instructions: Vec<Site>,
    /// The shared memory that they touch.
    #[serde(with = "encode::objects")]
    pub memory: Vec<Obj>,
    /// The search took accesses for key points only where no event of their execution orders them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unordered_only: bool,
}

/// The failure, and what tells it from others.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SavedFailure {
    /// The kind of failure.
    pub kind: FailureKind,
    /// One sentence.
    pub message: String,
    /// The places, one line for each thread that takes part.
    pub at: Vec<String>,
    /// The same as data; empty in files of older versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parties: Vec<SavedParty>,
    /// The failing line, where one thread failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Location>,
    /// Of what always fails: number of schedules that were run, where there are more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tried: Option<u64>,
    /// Preemptions of the schedule, where measured.
    pub preemptions: Option<u32>,
    /// Whether no schedule with fewer preemptions shows the failure.
    pub fewest: bool,
    /// Delays of the schedule, where measured.
    pub delays: Option<u32>,
    /// The schedule is minimised to the end.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub minimised: bool,
}

/// A thread that takes part in a failure.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SavedParty {
    /// The thread (`T1`, `T2` …).
    pub thread: String,
    /// Its place.
    #[serde(flatten)]
    pub place: Location,
}

/// The reason for which nothing fails.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SavedPass {
    /// The events that come in the other order than in the schedule that fails, by the numbers of their choices from 0: the
    /// one that comes first here, and the other one, if it runs at all.
    pub order: Vec<(usize, Option<usize>)>,
}

impl SavedFailure {
    /// The first thread that takes part, and where it stands.
    pub(crate) fn first_party(&self) -> Option<SavedParty> {
        let of_line = |line: &String| {
            let (thread, place) = thread_and_place(line)?;
            let place = place.map(at::place).unwrap_or_default();
            Some(SavedParty { thread: thread.to_owned(), place })
        };
        self.parties.first().cloned().or_else(|| of_line(self.at.first()?))
    }
}
