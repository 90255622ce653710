//! A potential deadlock as a report has it.

use serde::{Deserialize, Serialize};

use crate::report::location::Location;

/// Locks that threads take in a circle, in executions none of which deadlocked on them.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PotentialDeadlock {
    /// One sentence.
    pub message: String,
    /// The locks, in the order of the circle.
    pub locks: Vec<String>,
    /// The threads: each has a lock that the one before it would wait for, the first one that of the last.
    pub threads: Vec<LockOrder>,
}

/// The order in which a thread takes two locks.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct LockOrder {
    /// The thread (`T1`, `T2` …).
    pub thread: String,
    /// The lock that it has.
    pub holds: LockUse,
    /// The lock that it takes while it has that one.
    pub takes: LockUse,
}

/// The place at which a thread takes a lock.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct LockUse {
    /// The lock.
    pub lock: String,
    /// Other words for it, by which a suppression may name it.
    #[serde(skip)]
    pub also_called: Vec<String>,
    /// The place.
    #[serde(flatten)]
    pub place: Location,
    /// The calls by which the thread came there, innermost first.
    pub stack: Vec<Location>,
}

impl LockOrder {
    /// The places at which it takes the two locks.
    #[must_use]
    pub fn uses(&self) -> [&LockUse; 2] {
        [&self.holds, &self.takes]
    }
}
