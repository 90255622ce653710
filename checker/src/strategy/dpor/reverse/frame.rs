//! An execution, and the children that are still to be made of it.

use crate::event::agent::Agent;
use crate::event::operation::Effect;
use crate::event::position::{PerEvent, Position};
use crate::strategy::dpor::moves::Move;
use crate::strategy::dpor::overtaken::OvertakenOperation;
use crate::strategy::dpor::planned::ReplayPrefix;
use crate::trace::Trace;

/// An execution, and what is still to be made of it.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) steps: ReplayPrefix,
    pub(super) scheduled: PerEvent<bool>,
    pub(super) children: Vec<Child>,
}

/// The purpose of an execution.
#[derive(Clone, Debug, Default)]
pub struct ReversalTask {
    /// Which of the events before the reversed one, which comes next, were put where they are by a reversal.
    pub(super) scheduled: PerEvent<bool>,
    pub(super) child: Option<Child>,
    /// What its cost is: it has been run in another order.
    pub(super) again: bool,
}

/// An execution that is made of another one.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Child {
    /// Up to where all stays as it is.
    pub(super) at: Position,
    /// The positions of the events that come then.
    pub(super) keep: Vec<Position>,
    /// What comes then.
    pub(super) next: Move,
    /// Who did what came there before, and does it again now, if that can run.
    pub(super) again: Agent,
    /// That, and what else had something put before it.
    pub(super) waits: Vec<OvertakenOperation>,
    /// What the next event has to conflict with.
    pub(super) provided: Vec<Effect>,
    /// In a bounded search: all that it leads to has at least so many preemptions.
    pub(super) cost: u32,
}

impl Child {
    /// The same with the other ways in which what comes next could have gone. Position `at` is where it ran.
    pub(super) fn other_ways(&self, run: &Trace, at: Position) -> Vec<Self> {
        let ran = run.steps[at].choice;
        if self.next.pick.is_some() {
            return Vec::new();
        }
        let ways = run.choices(at).iter().filter(|way| way.agent == ran.agent && way.pick != ran.pick);
        let with = |pick| Self {
            at,
            keep: Vec::new(),
            next: Move { pick: Some(pick), ..self.next.clone() },
            ..self.clone()
        };
        ways.map(|way| with(way.pick)).collect()
    }
}

/// What reversals have made of an execution.
#[derive(Debug, Default)]
pub(super) struct Origin {
    /// Which of its events were put where they are by a reversal.
    pub(super) scheduled: PerEvent<bool>,
    /// What they were put before.
    pub(super) waits: Vec<OvertakenOperation>,
}
