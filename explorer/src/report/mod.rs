//! The result of a search as plain data: the object that `--format json` prints. See `docs/formats.md`.

mod covered;
mod event;
mod event_graph;
pub mod explanation;
pub(crate) mod finding;
pub mod interned;
mod left_out;
mod location;
pub mod plural;
mod shortened;
mod stalled;
pub mod verdict;
mod warnings;

pub use checker::failure::FailureKind;
pub use checker::operation::OpKind;
use serde::{Deserialize, Serialize};

pub use self::covered::{AtSynchronisation, BufferedStore, Covered, NotCovered};
pub use self::event::{EventLine, Lane, Switch, Why};
pub use self::event_graph::{EventGraph, FORMAT as GRAPH_FORMAT, GraphFailure, VERSION as GRAPH_VERSION};
pub use self::finding::hint::Hint;
pub use self::finding::role::Role;
pub use self::finding::stall::StallOf;
pub use self::finding::{Finding, Output, Party};
pub use self::left_out::LeftOut;
pub use self::location::Location;
pub use self::stalled::Stalled;
use self::verdict::Verdict;
pub use self::warnings::potential_deadlock::{LockOrder, LockUse, PotentialDeadlock};
pub use self::warnings::race::{Race, RaceKind, RacingAccess};

/// Value of the `format` member of every report.
pub const FORMAT: &str = "interleaver-report";

/// The version of the report's format.
pub const VERSION: u32 = 1;

/// The result of a search, or of a replay.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Report {
    /// Always [`FORMAT`].
    pub format: String,
    /// Always [`VERSION`].
    pub version: u32,
    /// The version of the tool.
    pub tool: String,
    /// The program or test that was explored: the path relative to the root, or the absolute one.
    pub target: String,
    /// The schedule file, if one was replayed.
    pub replayed: Option<String>,
    /// Its verdict.
    pub verdict: Verdict,
    /// The search; for a replay, the one that had found the schedule.
    pub strategy: String,
    /// The seed of its random choices.
    pub seed: u64,
    /// Every execution of the search, as `--max-schedules` and progress count them; 0 in a replay.
    #[serde(default, skip_serializing_if = "is_none")]
    pub executions: u64,
    /// Executions that ended: all threads finished, deadlocked, or failed; each happens-before class once.
    pub schedules: u64,
    /// Those of them that deadlocked.
    pub deadlocked: u64,
    /// Executions that repeated a class.
    pub redundant: u64,
    /// Executions that were cut because the rest was known.
    pub pruned: u64,
    /// Replays, audits, and executions before a restart.
    pub other: u64,
    /// Executions that ended with accesses of few variables as key points. `None`: the search has no such.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub narrow: Option<Narrow>,
    /// The most threads that an execution of the search had, that of a test's harness left out; 0 where they were not counted.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub threads: u32,
    /// Bounds of which every schedule has been run.
    pub covered: Covered,
    /// Entries of the account: the bounds are covered but for what that does. Empty where nothing was, or nothing that
    /// the user does not answer for ([`Covered::assumes`]).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_covered: Vec<NotCovered>,
    /// The bound that was asked for is covered, but for what was not watched.
    #[serde(default)]
    pub complete: bool,
    /// Result of switching threads at synchronisation only. `None`: they were switched at every operation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_synchronisation: Option<AtSynchronisation>,
    /// The reason for which the search ended, as a sentence.
    pub ended: String,
    /// Wall time.
    pub elapsed_seconds: f64,
    /// Executions of the search per second.
    pub schedules_per_second: f64,
    /// Events per execution, on average; those of [`Report::narrow`] left out.
    pub key_points_per_schedule: f64,
    /// Notes for the reader about how far the result goes, a sentence each.
    pub notes: Vec<String>,
    /// Failures, in the order in which they were found.
    pub findings: Vec<Finding>,
    /// The search among schedules in which threads are stalled for longer than was asked for. `None`: no time passes in the program,
    /// or something was found without that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stalled: Option<Stalled>,
    /// Data races, in the order in which they were found: warnings, unless `--fail-on-races` was asked for.
    #[serde(default)]
    pub races: Vec<Race>,
    /// Number of further ones, which `interleaver.toml` says may stay.
    #[serde(default, skip_serializing_if = "is_none")]
    pub suppressed_races: u64,
    /// Locks that threads take in opposite orders, in the order in which they were found: warnings.
    #[serde(default)]
    pub potential_deadlocks: Vec<PotentialDeadlock>,
    /// Number of further ones, which `interleaver.toml` says may stay.
    #[serde(default, skip_serializing_if = "is_none")]
    pub suppressed_potential_deadlocks: u64,
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

fn is_none(count: &u64) -> bool {
    *count == 0
}

/// Executions in which only accesses of few variables were key points: of which class they are is not known.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Narrow {
    /// Their number; none of them failed.
    pub schedules: u64,
    /// Events per execution, on average.
    pub key_points_per_schedule: f64,
}

impl Report {
    /// Whether all schedules that were asked for were run, and only unwatched code and effects keep that from being a
    /// claim.
    #[must_use]
    pub fn is_run(&self) -> bool {
        self.complete && !self.not_covered.is_empty()
    }
}
