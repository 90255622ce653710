//! The point before an event: the choice that was made there, the choices that there were, and the reason.

use crate::event::agent::Choice;
use crate::event::names::ThreadName;
use crate::event::wait::BlockedOn;

/// The point before an event, as many events have it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Moment {
    /// The choice that was made.
    pub choice: Choice,
    /// The reason for which this thread ran here.
    pub reason: Reason,
    /// The thread that ran before, and whether it could have gone on.
    pub last: Previous,
    /// The choices that there were.
    pub choices: Box<[Choice]>,
}

/// The reason for which the thread of a step ran at that point.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Reason {
    /// It is the first event.
    First,
    /// The thread before goes on.
    Continues,
    /// The thread before could have gone on: a preemption.
    Preempted(ThreadName),
    /// The thread before is blocked.
    Blocked(ThreadName, BlockedOn),
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
    /// At a yield or sleep again, and no other thread has moved since the one before: others go first, if it has been let past
    /// so many that it must; by default in any case.
    Yielding(ThreadName),
}

impl Previous {
    /// The thread, if there is one.
    #[must_use]
    pub fn thread(self) -> Option<ThreadName> {
        match self {
            Self::Nobody => None,
            Self::Runnable(name) | Self::Free(name) | Self::Yielding(name) => Some(name),
        }
    }
}
