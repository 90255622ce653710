//! An execution as a report has it: its threads, and its events.

use checker::names::ThreadName;
use checker::operation::OpKind;
use serde::{Deserialize, Serialize};

use super::interned::{Shared, SharedText};
use super::location::Location;

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
    /// Its thread (`T1`, `T2` …).
    pub thread: SharedText,
    /// The kind of operation.
    pub operation: OpKind,
    /// The same in words, with the object.
    pub text: SharedText,
    /// Its place.
    #[serde(flatten)]
    pub place: Shared<Location>,
    /// The reason for which another thread than before runs here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub switch: Option<Box<Switch>>,
}

/// A change from one thread to another.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Switch {
    /// The thread that ran before.
    pub from: String,
    /// The reason for which it does not go on.
    pub why: Why,
    /// The same as a sentence.
    pub reason: String,
}

/// Reasons for which a thread does not go on.
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
