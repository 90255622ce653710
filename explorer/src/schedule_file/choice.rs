//! The choices of a schedule file.

use checker::names::{Site, ThreadName};
use checker::operation::OpKind;
use checker::program::{Agent, Choice, OpKey, OpOutcome};
use serde::{Deserialize, Serialize};

use super::encode;
use crate::report::interned::SharedText;

/// One choice, and what it ran.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SavedChoice {
    /// The thread of its event.
    pub thread: ThreadName,
    /// The kind of operation that it ran.
    pub operation: OpKind,
    /// The object of the operation, in words; for people only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<SharedText>,
    /// Function and line, or the address where there is no line.
    pub at: SharedText,
    /// The instruction, in this build.
    #[serde(with = "encode::site")]
    pub site: Site,
    /// The actor of the thread that was chosen.
    #[serde(default, skip_serializing_if = "Actor::is_thread")]
    pub actor: Actor,
    /// The outcome of the operation, where there are several.
    #[serde(default, rename = "pick", skip_serializing_if = "is_only")]
    pub outcome: OpOutcome,
}

/// The actor of a thread that is chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Actor {
    /// The thread itself.
    #[default]
    Thread,
    /// Its timed wait runs out.
    Timeout,
    /// Its oldest buffered store reaches memory.
    Flush,
}

impl Actor {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
    fn is_thread(&self) -> bool {
        *self == Self::Thread
    }
}

fn is_only(outcome: &OpOutcome) -> bool {
    *outcome == OpOutcome::Only
}

impl SavedChoice {
    /// The choice as the checker knows it.
    #[must_use]
    pub fn choice(&self) -> Choice {
        let agent = match self.actor {
            Actor::Thread => Agent::Thread(self.thread),
            Actor::Timeout => Agent::Timeout(self.thread),
            Actor::Flush => Agent::Flush(self.thread),
        };
        Choice { agent, outcome: self.outcome }
    }

    /// The operation that the choice has to run.
    #[must_use]
    pub fn key(&self) -> OpKey {
        OpKey { kind: self.operation, site: self.site }
    }

    /// The actor of an agent.
    #[must_use]
    pub fn actor(agent: Agent) -> Actor {
        match agent {
            Agent::Thread(_) => Actor::Thread,
            Agent::Timeout(_) => Actor::Timeout,
            Agent::Flush(_) => Actor::Flush,
        }
    }
}
