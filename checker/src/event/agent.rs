//! Agents: all that can be chosen at a scheduling point, and what is known of each.

use std::fmt;

use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use super::failure::Failure;
use super::names::{Site, ThreadName};
use super::operation::Op;
use super::wait::BlockedOn;

/// An agent: a unit that a scheduler can choose.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Agent {
    /// A thread runs its pending operation.
    Thread(ThreadName),
    /// The open timed wait of a thread runs out of time.
    Timeout(ThreadName),
    /// The oldest store in the store buffer of a thread reaches memory.
    Flush(ThreadName),
}

impl fmt::Display for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Thread(name) => write!(f, "{name}"),
            Self::Timeout(name) => write!(f, "the time limit of {name}"),
            Self::Flush(name) => write!(f, "the store buffer of {name}"),
        }
    }
}

impl Agent {
    /// Whether it is a thread, which runs its own operation.
    #[must_use]
    pub fn is_thread(self) -> bool {
        matches!(self, Self::Thread(_))
    }

    /// The thread that this agent belongs to.
    #[must_use]
    pub fn thread(self) -> ThreadName {
        match self {
            Self::Thread(name) | Self::Timeout(name) | Self::Flush(name) => name,
        }
    }
}

/// Everything about an agent that a search may look at.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AgentView {
    /// Its name.
    pub agent: Agent,
    /// The state that says whether it can be chosen.
    pub status: Status,
    /// Its next operation; also while it is blocked. `None` once it has finished.
    pub pending: Option<Op>,
    /// The place of its pending operation in the code.
    pub site: Site,
    /// The ways in which its pending operation can go. Never empty while it has one.
    pub outcomes: SmallVec<[OpOutcome; 1]>,
}

/// The state of an agent: it says whether it can be chosen.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Status {
    /// It can.
    Enabled,
    /// It cannot, until something else happens.
    Blocked(BlockedOn),
    /// It failed, and is held there.
    Failed(Failure),
    /// It has ended.
    Finished,
}

impl Status {
    /// Whether only a wake-up by another thread's event ends it.
    #[must_use]
    pub fn waits_for_a_wake(&self) -> bool {
        matches!(self, Self::Blocked(BlockedOn::Cond(_) | BlockedOn::Futex(_)))
    }
}

/// One of the ways in which an operation can go.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OpOutcome {
    /// There is one way only.
    #[default]
    Only,
    /// This waiter wakes up.
    Wake(ThreadName),
    /// A value that the operation yields.
    Value(u32),
}

/// The decision of a scheduler at a point: an agent, and the way in which it goes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Choice {
    /// The agent that goes.
    pub agent: Agent,
    /// The way in which it goes.
    pub outcome: OpOutcome,
}

impl Choice {
    /// A thread whose operation can go one way only.
    #[must_use]
    pub const fn thread(name: ThreadName) -> Self {
        Self { agent: Agent::Thread(name), outcome: OpOutcome::Only }
    }
}

impl AgentView {
    /// Whether its pending operation gives way to others.
    #[must_use]
    pub fn gives_way(&self) -> bool {
        self.pending.as_ref().is_some_and(|op| op.kind.gives_way())
    }

    /// Whether it could go, to do more than to let time pass.
    #[must_use]
    pub fn has_work(&self) -> bool {
        let lets_time_pass = match self.agent {
            Agent::Thread(name) => name.is_timer() || self.gives_way(),
            Agent::Timeout(_) => true,
            Agent::Flush(_) => false,
        };
        self.status == Status::Enabled && !lets_time_pass
    }
}
