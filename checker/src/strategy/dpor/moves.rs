//! Events that ran or shall run, as sequences that are compared up to the order of what commutes.

use serde::{Deserialize, Serialize};

use crate::names::{Site, ThreadName};
use crate::op::{Effect, OpKind};
use crate::seam::{Agent, Choice, OpKey, Pick};
use crate::trace::TraceStep;

/// One event of a sequence.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct Move {
    /// Who.
    pub(super) agent: Agent,
    /// How; `None` for whichever way it will go.
    pub(super) pick: Option<Pick>,
    /// What is pending there.
    pub(super) key: OpKey,
    /// What it did; where it has not run, what it may do.
    pub(super) effect: Effect,
    /// The effect is what it did.
    pub(super) ran: bool,
    /// It is known that it can run where it stands in its sequence.
    pub(super) certain: bool,
}

impl Move {
    /// An event that ran.
    pub(super) fn of(step: &TraceStep) -> Self {
        let (choice, key) = step.replayed();
        let effect = step.event.did.clone();
        Self { agent: choice.agent, pick: Some(choice.pick), key, effect, ran: true, certain: true }
    }

    /// A choice whose operation is not looked at.
    pub(super) fn towards(choice: Choice) -> Self {
        let key = OpKey { kind: OpKind::Yield, site: Site(0) };
        let Choice { agent, pick } = choice;
        Self { agent, pick: Some(pick), key, effect: Effect::default(), ran: false, certain: true }
    }

    pub(super) fn thread(&self) -> ThreadName {
        self.agent.thread()
    }

    /// The choice that makes it run, if there is one way only.
    pub(super) fn step(&self) -> (Choice, OpKey) {
        (Choice { agent: self.agent, pick: self.pick.unwrap_or_default() }, self.key.clone())
    }

    pub(super) fn commutes(&self, other: &Self) -> bool {
        self.thread() != other.thread() && !self.effect.conflicts(&other.effect)
    }
}
