//! Events that ran or shall run, as sequences that are compared up to the order of what commutes.

use serde::{Deserialize, Serialize};

use crate::event::agent::{Agent, Choice, OpOutcome};
use crate::event::names::ThreadName;
use crate::event::operation::Effect;
use crate::event::step::OpKey;
use crate::trace::TraceStep;

/// One event of a sequence.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct Move {
    /// The agent that moves.
    pub(super) agent: Agent,
    /// The way in which it goes; `None` for whichever way it will go.
    pub(super) outcome: Option<OpOutcome>,
    /// The operation that is pending there.
    pub(super) key: OpKey,
    /// Its effect; where that is not certain, the effect that it may have.
    pub(super) effect: Effect,
    /// It can run where it stands in its sequence, and this is what it does there.
    pub(super) certain: bool,
}

impl Move {
    /// An event that ran.
    pub(super) fn of(step: &TraceStep) -> Self {
        let (choice, key) = step.replayed();
        let effect = step.event.did.clone();
        Self { agent: choice.agent, outcome: Some(choice.outcome), key, effect, certain: true }
    }

    pub(super) fn thread(&self) -> ThreadName {
        self.agent.thread()
    }

    /// The choice that makes it run, if there is one way only.
    pub(super) fn step(&self) -> (Choice, OpKey) {
        (Choice { agent: self.agent, outcome: self.outcome.unwrap_or_default() }, self.key.clone())
    }

    pub(super) fn commutes(&self, other: &Self) -> bool {
        self.thread() != other.thread() && !self.effect.conflicts(&other.effect)
    }

    /// Whether both are one event, which may go several ways where that is open.
    fn is(&self, other: &Self) -> bool {
        let open = self.outcome.is_none() || other.outcome.is_none();
        self.agent == other.agent && (open || self.outcome == other.outcome)
    }
}

/// A move that can come first in a sequence (a weak initial).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum WeakInitial {
    /// It is this one of the sequence.
    At(usize),
    /// It is none of the sequence, and commutes with all of it.
    Beside,
}

/// The way in which a move, which is certain, can come first in a sequence, if it can: it is a *weak initial* of it.
pub(super) fn first(this: &Move, sequence: &[Move]) -> Option<WeakInitial> {
    let own = sequence.iter().position(|other| other.thread() == this.thread());
    let Some(at) = own else {
        return sequence.iter().all(|other| this.commutes(other)).then_some(WeakInitial::Beside);
    };
    // With the same past it does the same: what it did elsewhere, it does here.
    let free = sequence[..at].iter().all(|other| !other.effect.conflicts(&this.effect));
    (this.is(&sequence[at]) && free).then_some(WeakInitial::At(at))
}
