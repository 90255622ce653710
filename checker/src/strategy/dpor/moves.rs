//! Events that ran or shall run, as sequences that are compared up to the order of what commutes.

use serde::{Deserialize, Serialize};

use crate::names::ThreadName;
use crate::op::Effect;
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

    /// Whether both are one event, which may go several ways where that is open.
    fn is(&self, other: &Self) -> bool {
        let open = self.pick.is_none() || other.pick.is_none();
        self.agent == other.agent && (open || self.pick == other.pick)
    }
}

/// How a move can come first in a sequence.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum First {
    /// It is this one of the sequence.
    At(usize),
    /// It is none of the sequence, and commutes with all of it.
    Beside,
}

/// Whether a move can come first in a sequence: it is a *weak initial* of it.
pub(super) fn first(this: &Move, sequence: &[Move]) -> Option<First> {
    let own = sequence.iter().position(|other| other.thread() == this.thread());
    let Some(at) = own else {
        let commutes = sequence.iter().all(|other| this.commutes(other));
        return (commutes && this.certain).then_some(First::Beside);
    };
    let there = &sequence[at];
    // With the same past it does the same: what one of them did, the other one would do.
    let effect = if this.ran { &this.effect } else { &there.effect };
    let free = sequence[..at].iter().all(|other| !other.effect.conflicts(effect));
    (this.is(there) && free).then_some(First::At(at))
}
