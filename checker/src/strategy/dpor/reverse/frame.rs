//! An execution, and the children that are still to be made of it.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::event::agent::{Agent, Choice};
use crate::event::names::ThreadName;
use crate::event::operation::Effect;
use crate::event::position::{PerEvent, Position};
use crate::event::step::OpKey;
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
    /// Of each event before the reversed one, which comes next, whether it was put where it is by a reversal.
    pub(super) scheduled: PerEvent<bool>,
    pub(super) child: Option<Child>,
    /// It is run for its cost alone: its trace has been run in another order.
    pub(super) rerun: bool,
}

/// An execution that is made of another one.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Child {
    /// The position up to which all stays as it is.
    pub(super) at: Position,
    /// The events that come then.
    pub(super) keep: KeptEvents,
    /// The move that comes then.
    pub(super) next: Move,
    /// The agent of the event that came there before; it runs again now, if it can.
    pub(super) reversed_agent: Agent,
    /// The operation of that event, and the others that had something put before them.
    pub(super) overtaken: Vec<OvertakenOperation>,
    /// The effects that the next event has to conflict with.
    pub(super) required_conflicts: Vec<Effect>,
    /// In a bounded search: all that it leads to has at least so many preemptions.
    pub(super) cost: u32,
}

/// Events behind a position that stay: of each thread all up to one. An execution can have as many children as events, each of
/// which keeps as many.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct KeptEvents {
    /// Of each thread that has any, the position of the last one.
    last: SmallVec<[(ThreadName, Position); 4]>,
    events: u32,
}

impl KeptEvents {
    /// Takes in those of another thread.
    pub(super) fn add(&mut self, thread: ThreadName, last: Position, events: u32) {
        self.last.push((thread, last));
        self.events += events;
    }

    /// The number of events.
    pub(super) fn len(&self) -> usize {
        self.events as usize
    }

    /// The last one of each thread.
    pub(super) fn last(&self) -> impl Iterator<Item = Position> {
        self.last.iter().map(|&(_, at)| at)
    }

    /// The number of threads that have any.
    pub(super) fn threads(&self) -> usize {
        self.last.len()
    }

    /// The events among those of an execution that come after a position.
    pub(super) fn of<'s>(
        &self,
        steps: &'s [(Choice, OpKey)],
        after: Position,
    ) -> impl Iterator<Item = &'s (Choice, OpKey)> {
        let last: FxHashMap<ThreadName, Position> = self.last.iter().copied().collect();
        let end = self.last().max().map_or(after, Position::next);
        let kept = move |&at: &Position| {
            last.get(&steps[at.count()].0.agent.thread()).is_some_and(|&last| at <= last)
        };
        after.next().until(end).filter(kept).map(|at| &steps[at.count()])
    }
}

impl Child {
    /// The same with the other ways in which what comes next could have gone. Position `at` is where it ran.
    pub(super) fn other_ways(&self, run: &Trace, at: Position) -> Vec<Self> {
        let ran = run.steps[at].choice;
        if self.next.outcome.is_some() {
            return Vec::new();
        }
        let ways = run.choices(at).iter().filter(|way| way.agent == ran.agent && way.outcome != ran.outcome);
        let with = |outcome| Self {
            at,
            keep: KeptEvents::default(),
            next: Move { outcome: Some(outcome), ..self.next.clone() },
            ..self.clone()
        };
        ways.map(|way| with(way.outcome)).collect()
    }
}

/// The result of the reversals that have led to an execution.
#[derive(Debug, Default)]
pub(super) struct Origin {
    /// Of each of its events, whether it was put where it is by a reversal.
    pub(super) scheduled: PerEvent<bool>,
    /// The operations that they were put before.
    pub(super) overtaken: Vec<OvertakenOperation>,
}
