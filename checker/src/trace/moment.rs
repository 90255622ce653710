//! The point before an event: what was chosen there of what, and why.

use crate::event::agent::Choice;
use crate::event::names::ThreadName;
use crate::event::wait::On;

/// The point before an event, as many events have it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Moment {
    /// What was chosen.
    pub choice: Choice,
    /// Why this thread ran here.
    pub reason: Reason,
    /// Who ran before, and whether it could have gone on.
    pub last: Previous,
    /// What could be chosen.
    pub choices: Box<[Choice]>,
}

/// Why the thread of a step ran at that point.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Reason {
    /// It is the first event.
    First,
    /// The thread before goes on.
    Continues,
    /// The thread before could have gone on: a preemption.
    Preempted(ThreadName),
    /// The thread before is blocked.
    Blocked(ThreadName, On),
    /// The thread before gave way.
    GaveWay(ThreadName),
    /// The thread before has finished.
    Finished(ThreadName),
    /// The thread before has failed.
    Failed(ThreadName),
    /// No switch: a timed wait runs out of time, or a store reaches memory.
    Aside,
}

impl Reason {
    /// Whether another thread runs than before.
    #[must_use]
    pub fn is_switch(&self) -> bool {
        !matches!(self, Self::First | Self::Continues | Self::Aside)
    }
}

/// The thread that ran last.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Previous {
    /// Nothing ran yet.
    #[default]
    Nobody,
    /// It could go on: leaving it is a preemption.
    Runnable(ThreadName),
    /// Leaving it is free: blocked, finished, failed, or at a yield or sleep.
    Free(ThreadName),
    /// At a yield or sleep again, and nobody else has moved since the one before: others go first, if it has been let past
    /// so many that it must; by default in any case.
    Yielding(ThreadName),
}

impl Previous {
    /// Who it is.
    #[must_use]
    pub fn thread(self) -> Option<ThreadName> {
        match self {
            Self::Nobody => None,
            Self::Runnable(name) | Self::Free(name) | Self::Yielding(name) => Some(name),
        }
    }
}
