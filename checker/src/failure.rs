//! What can go wrong in an execution.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::names::{Site, ThreadName};

/// The kind of a failure, as it is written in reports.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FailureKind {
    /// `assert` or `abort`.
    Assertion,
    /// A Rust panic of an execution that then failed.
    Panic,
    /// A fatal signal.
    Crash,
    /// The program ended with another exit code than 0.
    ExitCode,
    /// Nobody can move, somebody has not finished.
    Deadlock,
    /// Like [`FailureKind::Deadlock`], but a timed wait would end it.
    DeadlockButTimeouts,
    /// Everybody who has not finished spins or is blocked, and somebody spins.
    Livelock,
    /// A mutex was released by a thread that did not hold it.
    UnlockNotHeld,
    /// A synchronisation object was destroyed while it was held or waited for.
    DestroyedWhileHeld,
    /// A block that had been freed was used.
    UseAfterFree,
    /// A block that had been freed was freed again.
    DoubleFree,
    /// A thread has not come to its next key point for as long as it may run. That is how a backend tells of it; it is no failure
    /// of the program, and no search reports it.
    Timeout,
    /// The program fails whatever the schedule.
    AlwaysFails,
}

/// A failure, with where it happened. Sites are innermost first.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Failure {
    /// What went wrong.
    pub kind: FailureKind,
    /// One sentence for a person.
    pub message: String,
    /// Who failed, if one thread did.
    pub thread: Option<ThreadName>,
    /// The failing thread's stack, innermost frame first; may be empty.
    pub stack: Vec<Site>,
    /// Threads that take part (the blocked ones of a deadlock), each with its stack.
    pub others: Vec<Party>,
    /// What made the program fail, where that is over by the time it does; see
    /// [`Program::attribute`](crate::seam::Program::attribute).
    pub line: Option<Line>,
}

/// A line of the source.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Line {
    /// The file, under one name in all executions.
    pub file: PathBuf,
    /// Its number, from 1.
    pub line: u32,
    /// The function that it belongs to, if that is known.
    pub function: Option<String>,
}

/// A thread that takes part in a failure.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Party {
    /// The thread.
    pub thread: ThreadName,
    /// What it is doing, for a person ("waits for mutex `b`, held by main/1").
    pub doing: String,
    /// Its stack, innermost frame first; may be empty.
    pub stack: Vec<Site>,
}

impl Party {
    /// What it is doing who freed the block that a failure is about.
    pub const FREED: &str = "freed it";
    /// The same of who allocated it.
    pub const ALLOCATED: &str = "allocated it";
}
