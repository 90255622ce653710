//! Differences between two executions of one schedule.

use std::fmt;

use super::agent::Agent;
use super::failure::Failure;
use super::names::ThreadName;
use super::operation::Effect;
use super::position::Position;
use super::refusal::ImpossibleChoice;
use super::step::OpKey;

/// The first place at which an execution is not as it should be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Difference {
    /// The number of the event, from 0.
    pub at: Position,
    /// The observation that was recorded, or was made the first time.
    pub expected: Observation,
    /// The observation that was made instead.
    pub got: Observation,
}

/// The behaviour of an execution at some event.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Observation {
    /// A thread runs an operation.
    Operation {
        /// The thread.
        thread: ThreadName,
        /// The operation, and its place in the code.
        key: OpKey,
        /// Its effect on objects; empty where that is not known.
        effect: Effect,
    },
    /// The end of the execution, without a failure.
    End,
    /// A failure.
    Failure(Box<Failure>),
    /// The execution was cut short there.
    CutShort,
    /// No event of that kind from there on.
    NoSuchEvent,
    /// The agent has ended, or does not exist.
    NoAgent(Agent),
    /// The thread is blocked.
    Blocked(ThreadName),
    /// The choice is not possible there: the reason, as [`ExecutionError::Impossible`](crate::program::ExecutionError::Impossible)
    /// gives it.
    Impossible(ImpossibleChoice),
}

impl Observation {
    /// An operation of which nothing more is known.
    #[must_use]
    pub fn operation(thread: ThreadName, key: &OpKey) -> Self {
        Self::Operation { thread, key: key.clone(), effect: Effect::default() }
    }
}

/// With the number of the site, for readers that have no names of it.
impl fmt::Display for Observation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Operation { thread, key, .. } => write!(f, "{thread} {} at {:#x}", key.kind, key.site.0),
            Self::End => f.write_str("the end"),
            Self::Failure(failure) => write!(f, "a failure ({:?})", failure.kind),
            Self::CutShort => f.write_str("cut short"),
            Self::NoSuchEvent => f.write_str("no such event"),
            Self::NoAgent(agent) => write!(f, "{agent} has ended or does not exist"),
            Self::Blocked(thread) => write!(f, "{thread} is blocked"),
            Self::Impossible(why) => write!(f, "{why}"),
        }
    }
}
