//! Where two executions of one schedule differ.

use std::fmt;

use crate::names::ThreadName;
use crate::op::Effect;
use crate::seam::OpKey;

/// Where an execution is not what it should be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Difference {
    /// Which event, from 0.
    pub at: usize,
    /// What was recorded, or happened the first time.
    pub expected: Seen,
    /// What happened.
    pub got: Seen,
}

/// What an execution did at some event, or would do there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Seen {
    /// A thread runs an operation.
    Operation {
        /// Which thread.
        thread: ThreadName,
        /// Which operation, and where.
        key: OpKey,
        /// What it does to objects; empty where that is not known.
        effect: Effect,
    },
    /// Something else, in words ("the end").
    Other(String),
}

impl Seen {
    /// An operation of which nothing more is known.
    #[must_use]
    pub fn operation(thread: ThreadName, key: &OpKey) -> Self {
        Self::Operation { thread, key: key.clone(), effect: Effect::default() }
    }
}

/// With the number of the site, for whoever has no names of it.
impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Operation { thread, key, .. } => write!(f, "{thread} {} at {:#x}", key.kind, key.site.0),
            Self::Other(words) => f.write_str(words),
        }
    }
}
