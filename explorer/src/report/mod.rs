//! The result of a search as plain data: the object that `--format json` prints. See `docs/formats.md`.

pub mod explanation;
pub mod interned;
pub(crate) mod old_form;
pub mod verdict;

pub use checker::failure::FailureKind;
use checker::names::ThreadName;
pub use checker::op::OpKind;
use serde::{Deserialize, Serialize};

use crate::input::request::MemoryModel;
pub use crate::narrate::unwatched::NotCovered;
use crate::render::plural;
use crate::report::explanation::Explanation;
use crate::report::interned::Shared;
use crate::report::old_form::AnyParty;
use crate::report::verdict::Verdict;

/// What the `format` member of every report says.
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
    /// What was explored: the path relative to the root, or the absolute one.
    pub target: String,
    /// The schedule file, if one was replayed.
    pub replayed: Option<String>,
    /// What it comes to.
    pub verdict: Verdict,
    /// The search; for a replay, the one that had found the schedule.
    pub strategy: String,
    /// The seed of its random choices.
    pub seed: u64,
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
    /// Bounds of which every schedule has been run.
    pub covered: Covered,
    /// Entries of the account: the bounds are covered but for what that does. Empty where nothing was, or nothing that
    /// the user does not answer for ([`Covered::assumes`]).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_covered: Vec<NotCovered>,
    /// The bound that was asked for is covered, but for what was not watched.
    #[serde(default)]
    pub complete: bool,
    /// What it came to that threads were switched at synchronisation only. `None`: they were switched at every operation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_synchronisation: Option<AtSynchronisation>,
    /// Why the search ended, as a sentence.
    pub ended: String,
    /// Wall time.
    pub elapsed_seconds: f64,
    /// Executions of the search per second.
    pub schedules_per_second: f64,
    /// Events per execution, on average; those of [`Report::narrow`] left out.
    pub key_points_per_schedule: f64,
    /// What the reader should know about how far the result goes, a sentence each.
    pub notes: Vec<String>,
    /// What was found, in the order in which it was found.
    pub findings: Vec<Finding>,
    /// Data races, in the order in which they were found: warnings, unless `--fail-on-races` was asked for.
    #[serde(default)]
    pub races: Vec<Race>,
    /// How many more there were, which `interleaver.toml` says may stay.
    #[serde(default, skip_serializing_if = "is_none")]
    pub suppressed_races: u64,
}

fn is_none(count: &u64) -> bool {
    *count == 0
}

/// Executions in which only accesses of few variables were key points: of which class they are is not known.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Narrow {
    /// How many; none of them failed.
    pub schedules: u64,
    /// Events per execution, on average.
    pub key_points_per_schedule: f64,
}

/// What it came to that threads were switched at synchronisation only.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct AtSynchronisation {
    /// Bounds of which every schedule was run that switches threads at synchronisation only.
    pub covered: Covered,
    /// Whether these stand for all schedules within these bounds: whether no execution had a data race. `None` where no
    /// bound was covered, and no race was seen so far.
    pub suffices: Option<bool>,
    /// The same as a sentence, with a pair that races if there is one.
    pub message: String,
}

/// Two accesses that nothing orders.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Race {
    /// Always `race`.
    pub kind: RaceKind,
    /// One sentence.
    pub message: String,
    /// What both touch.
    pub variable: String,
    /// Debug information says that both are plain accesses; else they may be atomic ones.
    pub certain: bool,
    /// Every execution with the accesses in one order failed, and one with another order passed.
    pub harmful: bool,
    /// How that was seen, as a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub harm: Option<String>,
    /// In the order in which they ran in the execution that shows it first.
    pub accesses: [RacingAccess; 2],
}

/// What kind of warning it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RaceKind {
    /// A data race.
    #[default]
    Race,
}

/// One of two accesses that race.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RacingAccess {
    /// The thread (`T1`, `T2` …).
    pub thread: String,
    /// What it does.
    pub operation: OpKind,
    /// Where.
    #[serde(flatten)]
    pub place: Location,
    /// How it came there, innermost first.
    pub stack: Vec<Location>,
}

/// The bounds within which every schedule has been run.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Covered {
    /// All schedules with at most so many preemptions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preemptions: Option<u32>,
    /// All schedules with at most so many delays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delays: Option<u32>,
    /// All schedules.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub everything: bool,
    /// Only those in which a thread that has yielded or slept so often in a row lets others go; all of them where nothing else
    /// is said here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_turns_of: Option<u32>,
    /// The memory model that this is about, where the user asked for another one than that of the processor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_model: Option<MemoryModel>,
    /// Entries of the account that the user answers for: the bounds hold as far as that does not matter.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assumes: Vec<NotCovered>,
}

impl Report {
    /// Whether all schedules that were asked for were run, and what keeps that from being a claim is what was not watched.
    #[must_use]
    pub fn is_run(&self) -> bool {
        self.complete && !self.not_covered.is_empty()
    }
}

impl Covered {
    /// `up to 2 preemptions`; empty where no bound was covered.
    #[must_use]
    pub fn up_to(&self) -> String {
        let in_turns = self.in_turns_of.map_or("", |_| ", where threads take turns");
        match *self {
            Self { preemptions: Some(bound), .. } => {
                format!("up to {}{in_turns}", plural(bound.into(), "preemption"))
            }
            Self { delays: Some(bound), .. } => format!("up to {}{in_turns}", plural(bound.into(), "delay")),
            Self { everything: true, .. } => "in any schedule".to_owned(),
            Self { in_turns_of: Some(_), .. } => "where threads take turns".to_owned(),
            _ => String::new(),
        }
    }
}

/// A failure, with the schedule that shows it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Finding {
    /// What kind.
    pub kind: FailureKind,
    /// One sentence.
    pub message: String,
    /// The text of a report's first line in place of kind and sentence, where the sentence is long and names its kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub headline: Option<String>,
    /// The place of the failure.
    #[serde(flatten)]
    pub place: Location,
    /// The thread that failed (`T1`, `T2` …), if one did.
    pub thread: Option<String>,
    /// How many executions of the search it took; 0 for a replay.
    pub schedule_number: u64,
    /// How many executions were started up to the first that showed it, checks and those before a restart among them; 1
    /// for a replay.
    #[serde(default)]
    pub executions: u64,
    /// Preemptions of the schedule.
    pub preemptions: Option<u32>,
    /// Whether no schedule with fewer preemptions shows this failure.
    pub fewest: bool,
    /// Delays of the schedule.
    pub delays: Option<u32>,
    /// Threads whose relative order must be constrained.
    pub threads: Option<u32>,
    /// Distinct variables at the preemptions.
    pub variables: Option<u32>,
    /// In how many of how many repetitions it failed again (`2/2`).
    pub reproduced: String,
    /// Why it happens, if that was found out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explanation: Option<Explanation>,
    /// Its name among the findings of its target; the same failure keeps it over rebuilds.
    #[serde(default)]
    pub id: Option<String>,
    /// Where the schedule is saved.
    pub schedule_file: Option<String>,
    /// Every thread that takes part, and what it was doing.
    pub parties: Vec<Party>,
    /// All threads of the execution, by creation path.
    pub lanes: Vec<Lane>,
    /// The whole execution, in order.
    pub events: Shared<Vec<EventLine>>,
    /// What the program wrote in this execution.
    pub output: Output,
}

/// A place in the source.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub struct Location {
    /// The file, relative to the root if it lies in there.
    pub file: Option<String>,
    /// The line, from 1.
    pub line: Option<u32>,
    /// The function.
    pub function: Option<String>,
}

/// A thread that takes part in a failure.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(from = "AnyParty")]
pub struct Party {
    /// Which one (`T1`, `T2` …).
    pub thread: String,
    /// Its part in the failure.
    pub role: Role,
    /// What it is doing, as the rest of a sentence that starts with its name.
    pub doing: String,
    /// Its own code's frames, innermost first.
    pub stack: Vec<Location>,
}

/// The part of a thread in a failure.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// It failed.
    Failed,
    /// It stands there when the execution fails, or waits for others.
    TakesPart,
    /// It freed the block that is used after that, or freed again.
    Freed,
    /// It allocated that block.
    Allocated,
    /// It was preempted on the way to the failure.
    Preempted,
}

/// A thread's column.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Lane {
    /// `T1` for the main thread; the others in order of creation path.
    pub thread: String,
    /// Its creation path.
    pub path: ThreadName,
}

/// An event of the execution. A report has up to millions of them.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct EventLine {
    /// Its position in the execution, from 0.
    pub number: u32,
    /// Whose it is (`T1`, `T2` …).
    pub thread: Shared<String>,
    /// What ran.
    pub operation: OpKind,
    /// The same in words, with the object.
    pub text: Shared<String>,
    /// Where.
    #[serde(flatten)]
    pub place: Shared<Location>,
    /// Why another thread than before runs here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub switch: Option<Box<Switch>>,
}

/// A change from one thread to another.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Switch {
    /// Who ran before.
    pub from: String,
    /// Why it does not go on.
    pub why: Why,
    /// The same as a sentence.
    pub reason: String,
}

/// Why a thread does not go on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Why {
    /// It could have gone on.
    Preempted,
    /// It waits for something.
    Blocked,
    /// It gave way.
    Yielded,
    /// It has ended.
    Ended,
    /// It failed.
    Failed,
    /// The timed wait of another thread ran out; this is no preemption.
    Timeout,
}

/// What a program wrote, made valid UTF-8.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Output {
    /// To its standard output.
    pub stdout: String,
    /// To its standard error.
    pub stderr: String,
    /// Something was left out.
    pub truncated: bool,
}
