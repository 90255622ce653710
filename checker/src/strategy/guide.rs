//! A guide: takes one execution through a work item, point by point, and notes what its planner should know.

use serde::{Deserialize, Serialize};

use super::dpor::Expansion;
use super::frontier::Visits;
use crate::event::agent::Choice;
use crate::event::position::Position;
use crate::event::step::OpKey;
use crate::hb::hash::HbHash;
use crate::program::{Scope, Until};
use crate::state::scheduling_point::SchedulingPoint;
use crate::trace::Trace;

/// Takes one execution from the end of the prefix to its end.
pub trait Guide {
    /// The operations that have to be scheduling points. With more of them, a guide that asks for few has to choose the same.
    fn scope(&self) -> Scope {
        Scope::All
    }

    /// Decides at a point with at least one choice.
    fn choose(&mut self, at: &SchedulingPoint<'_>) -> Decision;

    /// Called instead of [`Guide::choose`] at points inside a batch, where the execution went on by itself.
    fn pass(&mut self, at: &SchedulingPoint<'_>);

    /// Whether it is asked also once key points were added under its execution. One that knows what to expect is not: it
    /// would take what is new for something else.
    fn goes_on(&self) -> bool {
        false
    }

    /// An execution that was run ahead of its turn has ended, by a limit or not. A guide that can tell what its planner will
    /// make of it does so here, and leaves that much less to the worker that runs the search.
    fn ended(&mut self, _run: &Trace, _limit_reached: bool) {}

    /// The notes for the planner.
    fn notes(self: Box<Self>) -> Notes;
}

/// The decision of a guide at a point.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Decision {
    /// Go on.
    Run {
        /// The agent that goes, and the way in which it goes.
        choice: Choice,
        /// The extent of the run before asking again.
        until: Until,
    },
    /// End this execution: all that can follow is known.
    Prune,
}

/// The notes of a guide for its planner.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Notes {
    /// Choices not taken that are worth an execution each.
    pub alternatives: Vec<Alternative>,
    /// Those that lead nowhere else as long as it does not matter when joins run.
    pub deferred_joins: Vec<Alternative>,
    /// It does matter.
    pub joins_matter: bool,
    /// States entered into the cache.
    pub entered: Vec<HbHash>,
    /// Something was left out because it costs more than the bound.
    pub bound_exceeded: bool,
    /// Time-outs were left out because of their own bound.
    pub timeouts_bounded: bool,
    /// The operation that should have run after the prefix could not.
    pub infeasible: bool,
    /// It was given up where something could still run: its whole trace is seen elsewhere.
    pub given_up: bool,
    /// The execution was ended by a limit.
    pub limit_reached: bool,
    /// The prefix, an order of events that was never run, did not come out: what it leads to is not known.
    pub mispredicted: bool,
    /// Something was left out of what its threads may do ([`ExecutionSummary::left_out`]).
    ///
    /// [`ExecutionSummary::left_out`]: crate::program::ExecutionSummary::left_out
    pub left_out: bool,
    /// Of a frontier's execution that was run ahead of its turn: what is still to be looked up in the cache.
    pub visits: Visits,
    /// Of an execution of dpor's that was run ahead of its turn: what it leads to. Where it is lost it is made again.
    #[serde(skip)]
    pub expansion: Option<Box<Expansion>>,
}

/// A choice that was not taken.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Alternative {
    /// The position at which it could have been taken.
    pub at: Position,
    /// The choice, with its operation.
    pub step: (Choice, OpKey),
    /// The cost of the schedule up to and with it.
    pub cost: u32,
    /// The state that it leads to, and the thread that will have run last there, if that can be told.
    pub state: Option<(HbHash, crate::cache::LastThread)>,
}
