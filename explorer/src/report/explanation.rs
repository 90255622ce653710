//! Explanation of a failure in a report, beyond the schedule that shows it. See `docs/formats.md`.

pub use checker::explain::Depth;
use serde::{Deserialize, Serialize};

use super::event::{EventLine, Lane};
use super::left_out::LeftOut;
use super::location::Location;
use crate::report::interned::Shared;

/// The reason for which a failure happens.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Explanation {
    /// The kind of mistake, as a sentence with the names of threads, variables and lines.
    #[serde(default)]
    pub sentence: String,
    /// The evidence for that is thin.
    #[serde(default)]
    pub thin: bool,
    /// The schedule is minimised to the end: no change makes it simpler, and every schedule with fewer preemptions was run
    /// that could be. Else time or budget was over before.
    #[serde(default)]
    pub minimised: bool,
    /// Number of times that another thread runs than before, up to the failure.
    pub switches: u32,
    /// Its bug depth, if that could be measured.
    pub depth: Option<Depth>,
    /// Patterns of accesses that failing executions have and others do not, the most suspicious first.
    #[serde(default)]
    pub patterns: Vec<PatternLine>,
    /// Number of executions that the patterns were taken from.
    #[serde(default)]
    pub compared: Compared,
    /// The events whose order decides.
    #[serde(default)]
    pub pair: Option<Pair>,
    /// The first event after which the failure can no longer be helped.
    #[serde(default)]
    pub no_return: Option<PointOfNoReturn>,
    /// The parts that could not be found out, with the reasons.
    #[serde(default)]
    pub missing: Vec<String>,
    /// Time, executions or the user's patience were over before everything was found out: there is more to find out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unfinished: bool,
    /// Number of executions that the explanation took; they are part of the report's `other`.
    pub executions: u64,
    /// The schedule that the search had found, where a simpler one took its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub original: Option<Original>,
}

/// The schedule that a search had found.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Original {
    /// Its preemptions.
    pub preemptions: u32,
    /// Its events.
    pub events: u64,
    /// The file in which it is saved.
    pub schedule_file: Option<String>,
}

/// Numbers of executions that were compared, each happens-before class once.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Compared {
    /// With the same failure.
    pub failing: u32,
    /// Those that ended well.
    pub passing: u32,
}

/// A pattern of accesses.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PatternLine {
    /// 1 and one more for each pattern with a higher score.
    pub rank: u32,
    /// Number of patterns with this rank.
    pub tied: u32,
    /// Jaccard index, from 0 to 1.
    pub score: f64,
    /// Number of failing executions that have it.
    pub failing: u32,
    /// Number of passing ones.
    pub passing: u32,
    /// Its accesses: two of different threads, or three of which the second one is another thread's.
    pub accesses: Vec<AccessLine>,
}

/// An access of a pattern.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct AccessLine {
    /// Its thread, in the failing schedule.
    pub thread: String,
    /// `read` or `write`.
    pub access: String,
    /// The object that is accessed.
    pub object: String,
    /// Its place.
    #[serde(flatten)]
    pub place: Location,
    /// The calls by which its thread came there, innermost first; empty in reports of older versions.
    #[serde(default)]
    pub stack: Vec<Location>,
}

/// The critical pair, and the schedule beside the failing one.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Pair {
    /// One swap of two events that makes the execution end well; several where they all differ and none alone is known to do.
    pub swaps: Vec<[Side; 2]>,
    /// Swaps nearer to the failure that were run and failed as well.
    pub failed: u32,
    /// Swaps that could not be made.
    pub infeasible: u32,
    /// The threads of the execution that ends well: where it has others, their numbers are others.
    pub lanes: Vec<Lane>,
    /// Its events.
    pub passing: Shared<Vec<EventLine>>,
    /// The stretch that is not listed of these, as of a finding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_out: Option<LeftOut>,
    /// The file in which its schedule is saved.
    pub schedule_file: Option<String>,
}

/// The point of no return.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PointOfNoReturn {
    /// The event.
    #[serde(flatten)]
    pub event: Side,
    /// Every continuation was run; else a random sample decided.
    pub exhaustive: bool,
    /// The share of random continuations that fail, from before the event.
    pub before: f64,
    /// The same from behind it.
    pub after: f64,
}

/// An event of a pair, as in the failing schedule.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Side {
    /// Its position; absent for an operation that never ran.
    pub number: Option<u32>,
    /// Its thread.
    pub thread: String,
    /// The operation in words; of one that never ran, what its thread waits for.
    pub text: String,
    /// Its place.
    #[serde(flatten)]
    pub place: Location,
}
