//! A planner: hands out work items, and learns from what their executions show.

use serde::{Deserialize, Serialize};

use super::dpor::Branch;
use super::initial_schedule::InitialSchedule;
use super::{Guide, Notes};
use crate::cache::Cache;
use crate::event::agent::Choice;
use crate::event::position::Position;
use crate::event::step::OpKey;
use crate::program::Epoch;
use crate::trace::Trace;

/// A shared planner: frontier, tree, jobs, seeds.
pub trait Strategy: Send {
    /// The next work item, if there is one.
    fn next(&mut self, cache: &Cache) -> Next;

    /// The guide that takes one execution through a work item, on any worker.
    fn guide<'a>(&'a self, item: &WorkItem, cache: &'a Cache) -> Box<dyn Guide + 'a>;

    /// An item that [`Strategy::next`] has chosen to hand out soon, under the same id, once `others` workers are in the middle
    /// of such items; and the guide that takes an execution through it before its turn. Each one once. `None` where there is
    /// none, as where what comes next depends on what the executions before it show.
    fn speculate(&mut self, _cache: &Cache, _others: usize) -> Option<(WorkItem, Box<dyn Guide + Send>)> {
        None
    }

    /// It is the turn of an item that was run ahead: what its execution would be now. `notes` become those of that.
    fn validate_speculation(
        &mut self,
        _item: &WorkItem,
        _notes: &mut Notes,
        _cache: &Cache,
    ) -> SpeculationValidity {
        SpeculationValidity::Valid
    }

    /// The schedule that shows whether the program does the same twice, if that is looked at after some executions: its first
    /// one. Without it the default schedule is run twice before all else.
    fn determinism_schedule(&self) -> Option<InitialSchedule> {
        None
    }

    /// Takes in what an execution showed. A second result for one item is ignored.
    fn learn(&mut self, item: &WorkItem, run: &Trace, notes: Notes, cache: &Cache);

    /// Whether an execution that ran to its end is one of those that this search looks for.
    fn is_within(&mut self, _run: &Trace) -> bool {
        true
    }

    /// Of what is covered, the part of which each class of schedules was run with as few preemptions as it can have.
    fn covered_at_least_cost(&self, covered: Coverage, _cut: Option<u32>) -> Coverage {
        covered
    }

    /// Whether less is covered than was run since the costs of some execution could not be told.
    fn lacks_costs(&self) -> bool {
        false
    }

    /// Whether less is covered since orders of events that it had predicted did not come out.
    fn has_mispredicted(&self) -> bool {
        false
    }

    /// Whether it may still come to cover every schedule.
    fn may_cover_everything(&self) -> bool {
        true
    }

    /// Takes in an execution that no item of its own led to, where that tells it something about the program.
    fn observe(&mut self, _run: &Trace) {}

    /// Starts over: key points were added, so that indices and hashes of before mean nothing now.
    fn reset(&mut self, epoch: Epoch);

    /// The part that has been covered so far. `cut` is the least cost at which something was left unexplored.
    fn coverage(&self, cut: Option<u32>) -> Coverage;

    /// The bound that is being explored.
    fn bound(&self) -> Option<u32>;
}

/// The validity of an execution that was run ahead of its turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SpeculationValidity {
    /// Run now, it would be the same.
    Valid,
    /// Run now, it would have been cut after so many events.
    ValidUntil(Position),
    /// Run now, it might be another one: it has to be run.
    Invalid,
}

/// The next action of a planner.
#[derive(Clone, PartialEq, Debug)]
pub enum Next {
    /// Run this.
    Work(WorkItem),
    /// Nothing until results of items under way are in.
    Wait,
    /// Nothing any more.
    Done,
}

/// One execution's worth of work.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct WorkItem {
    /// Its name.
    pub id: u64,
    /// Replayed first.
    pub prefix: Vec<(Choice, OpKey)>,
    /// The cost of getting to the end of the prefix; 0 where nothing is bounded.
    pub cost: u32,
    /// For dpor: what was explored before, and what comes after the prefix.
    pub branch: Option<Box<Branch>>,
}

impl WorkItem {
    /// Whether its prefix is an order of events that was predicted from others, and never run.
    #[must_use]
    pub fn is_predicted(&self) -> bool {
        self.branch.is_some()
    }
}

/// The part that a search has covered completely, up to the bound on time-outs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Coverage {
    /// Every schedule with at most this many preemptions.
    pub preemptions: Option<u32>,
    /// Every schedule with at most this many delays.
    pub delays: Option<u32>,
    /// Every schedule.
    pub everything: bool,
    /// From so many preemptions or delays on only the schedules in which a thread that has gone past
    /// [`Options::max_yields`](crate::search::Options::max_yields) yields in a row lets others go first, as far as is said
    /// above; where nothing is said above, every one of these.
    pub in_turns_from: Option<u32>,
}

impl Coverage {
    /// Whether every schedule with at most so many preemptions was run, whatever turns its threads take.
    #[must_use]
    pub fn is_whole_to(&self, preemptions: u32) -> bool {
        let is_whole = self.in_turns_from.is_none_or(|from| from > preemptions);
        is_whole && self.preemptions.is_some_and(|bound| bound >= preemptions)
    }
}
