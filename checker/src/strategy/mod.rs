//! What a search is: a planner that hands out work items, and a guide that takes one execution through one.
//!
//! A planner is shared by all workers and sees results only. A guide sees one execution, point by point, and no other.
//! Work items are plain data, so that they can go to another process and come back; results are taken in by item id,
//! once each, in the order in which items were handed out: workers that run ahead ([`Strategy::ahead`]) change how fast a
//! search is, and nothing else. A new search is a new file here and a line in [`StrategyKind::plan`].

mod ahead;
mod auto;
mod default;
mod dfs;
mod dice;
mod dpor;
mod follow;
mod frontier;
mod guided;
mod icb;
mod idb;
mod kind;
mod novel;
mod opening;
mod patience;
mod pct;
mod pctvb;
mod period;
mod pos;
mod random;
mod rapos;
mod sampler;
mod surw;
mod vtb;

use serde::{Deserialize, Serialize};

pub use self::auto::Auto;
pub use self::default::DefaultSchedule;
pub use self::dfs::Unbounded;
pub use self::dice::Dice;
#[cfg(test)]
pub(crate) use self::dice::Script;
pub use self::dpor::{Branch, Offspring, ReverseSearch, WakeupTrees};
pub use self::follow::Follow;
pub use self::frontier::{Bound, Frontier, Visits};
pub use self::guided::Guided;
pub use self::icb::Preemptions;
pub use self::idb::Delays;
pub use self::kind::StrategyKind;
pub use self::novel::Novel;
pub use self::opening::{Opening, Openings};
pub use self::pct::Pct;
pub use self::pctvb::PctVb;
pub use self::period::Periods;
pub use self::pos::{Pos, Racing};
pub use self::random::Random;
pub use self::rapos::Rapos;
pub use self::sampler::{Sample, Sampler};
pub use self::surw::Surw;
pub use self::vtb::{Bounds, Vtb};
use crate::cache::Cache;
use crate::hash::HbHash;
use crate::point::Point;
use crate::seam::{Choice, Epoch, OpKey, Scope, Until};
use crate::trace::Trace;

/// A shared planner: frontier, tree, jobs, seeds.
pub trait Strategy: Send {
    /// The next work item, if there is one.
    fn next(&mut self, cache: &Cache) -> Next;

    /// Who takes one execution through a work item, on any worker.
    fn guide<'a>(&'a self, item: &WorkItem, cache: &'a Cache) -> Box<dyn Guide + 'a>;

    /// An item that [`Strategy::next`] has chosen to hand out soon, under the same id, once `others` workers are in the middle
    /// of such items; and who takes an execution through it before its turn. Each one once. `None` where there is none, as
    /// where what comes next depends on what the executions before it show.
    fn ahead(&mut self, _cache: &Cache, _others: usize) -> Option<(WorkItem, Box<dyn Guide + Send>)> {
        None
    }

    /// It is the turn of an item that was run ahead: what its execution would be now. `notes` become those of that.
    fn settle(&mut self, _item: &WorkItem, _notes: &mut Notes, _cache: &Cache) -> Settled {
        Settled::AsItIs
    }

    /// The schedule that shows whether the program does the same twice, if that is looked at after some executions: its first
    /// one. Without it the default schedule is run twice before all else.
    fn opening(&self) -> Option<Opening> {
        None
    }

    /// Takes in what an execution showed. A second result for one item is ignored.
    fn learn(&mut self, item: &WorkItem, run: &Trace, notes: Notes, cache: &Cache);

    /// Whether an execution that ran to its end is one of those that this search looks for.
    fn is_within(&mut self, _run: &Trace) -> bool {
        true
    }

    /// Whether what is covered was run with as few preemptions as it can have.
    fn runs_at_least_cost(&self) -> bool {
        true
    }

    /// Whether less is covered than was run since the costs of some execution could not be told.
    fn lacks_costs(&self) -> bool {
        false
    }

    /// Takes in an execution that no item of its own led to, where that tells it something about the program.
    fn saw(&mut self, _run: &Trace) {}

    /// Starts over: key points were added, so that indices and hashes of before mean nothing now.
    fn reset(&mut self, epoch: Epoch);

    /// What has been covered so far. `cut` is the least cost at which something was left unexplored.
    fn coverage(&self, cut: Option<u32>) -> Coverage;

    /// The bound that is being explored.
    fn bound(&self) -> Option<u32>;
}

/// What an execution that was run ahead of its turn is worth.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Settled {
    /// Run now, it would be the same.
    AsItIs,
    /// Run now, it would have been cut after so many events.
    CutAfter(u32),
    /// Run now, it might be another one: it has to be run.
    Void,
}

/// What a planner has to do next.
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
    /// What it costs to get to the end of the prefix; 0 where nothing is bounded.
    pub cost: u32,
    /// For dpor: what was explored before, and what comes after the prefix.
    pub branch: Option<Box<Branch>>,
}

/// Takes one execution from the end of the prefix to its end.
pub trait Guide {
    /// Which operations have to be scheduling points. With more of them, a guide that asks for few has to choose the same.
    fn scope(&self) -> Scope {
        Scope::All
    }

    /// What to do at a point with at least one choice.
    fn choose(&mut self, at: &Point<'_>) -> Decision;

    /// Called instead of [`Guide::choose`] at points inside a batch, where the execution went on by itself.
    fn pass(&mut self, at: &Point<'_>);

    /// Whether it is asked also once key points were added under its execution. One that knows what to expect is not: it
    /// would take what is new for something else.
    fn goes_on(&self) -> bool {
        false
    }

    /// An execution that was run ahead of its turn has ended, by a limit or not. A guide that can tell what its planner will
    /// make of it does so here, and leaves that much less to the worker that runs the search.
    fn ended(&mut self, _run: &Trace, _endless: bool) {}

    /// What the planner should know.
    fn notes(self: Box<Self>) -> Notes;
}

/// What a guide decides at a point.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Decision {
    /// Go on.
    Run {
        /// Who, and how.
        choice: Choice,
        /// How far, before asking again.
        until: Until,
    },
    /// End this execution: all that can follow is known.
    Cut,
}

/// What a guide tells its planner.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Notes {
    /// Choices not taken that are worth an execution each.
    pub alternatives: Vec<Alternative>,
    /// Those that lead nowhere else as long as it does not matter when joins run.
    pub spare: Vec<Alternative>,
    /// It does matter.
    pub joins_matter: bool,
    /// States entered into the cache.
    pub entered: Vec<HbHash>,
    /// Something was left out because it costs more than the bound.
    pub beyond: bool,
    /// Time-outs were left out because of their own bound.
    pub withheld: bool,
    /// What should have run after the prefix could not.
    pub refused: bool,
    /// It was given up where something could still run: its whole trace is seen elsewhere.
    pub given_up: bool,
    /// The execution was ended by a limit.
    pub endless: bool,
    /// Of a frontier's execution that was run ahead of its turn: what is still to be looked up in the cache.
    pub visits: Visits,
    /// Of an execution of dpor's that was run ahead of its turn: what it leads to. Where it is lost it is made again.
    #[serde(skip)]
    pub offspring: Option<Box<Offspring>>,
}

/// A choice that was not taken.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Alternative {
    /// After how many events.
    pub at: u32,
    /// The choice, with its operation.
    pub step: (Choice, OpKey),
    /// The cost of the schedule up to and with it.
    pub cost: u32,
    /// The state that it leads to, and who will have run last there, if that can be told.
    pub state: Option<(HbHash, crate::cache::Runner)>,
}

/// What a search has covered completely, up to the bound on time-outs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Coverage {
    /// Every schedule with at most this many preemptions.
    pub preemptions: Option<u32>,
    /// Every schedule with at most this many delays.
    pub delays: Option<u32>,
    /// Every schedule.
    pub everything: bool,
    /// From so many preemptions or delays on only the schedules in which who has gone past
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
