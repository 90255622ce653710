//! What both searches share: one execution after the other, each of which shows what there is to run.

use super::branch::Branch;
use crate::cache::Cache;
use crate::seam::{Choice, Epoch, OpKey};
use crate::strategy::{Coverage, Guide, Next, Notes, Strategy, WorkItem};
use crate::trace::Trace;

/// Of an execution that was ended by a limit, the races of this many events are reversed.
const OF_A_CUT_ONE: usize = 2_000;

/// Of how many events of an execution the races are reversed.
pub(super) fn length(endless: bool) -> usize {
    if endless { OF_A_CUT_ONE } else { usize::MAX }
}

/// What is replayed.
pub(super) type Prefix = Vec<(Choice, OpKey)>;

/// An execution to come.
#[derive(Debug, Default)]
pub struct Planned<T> {
    pub(super) prefix: Prefix,
    /// How it goes on.
    pub(super) branch: Branch,
    pub(super) task: T,
    /// Its id, if it was handed out ahead of its turn.
    pub(super) ahead: Option<u64>,
}

/// How a search gets from one execution to the next.
pub trait Walk: Default + Send {
    /// What an execution is run for. The default is that it is the first one.
    type Task: Default + Send;

    /// The next execution.
    fn next(&mut self) -> Option<Planned<Self::Task>>;

    /// Something of what comes next, for one of `others` workers, under this id: what is replayed, how it goes on, and who
    /// takes it on. Each once. `None` where executions to come depend on those before them.
    fn ahead(&mut self, _id: u64, _others: usize) -> Option<(Prefix, Branch, Box<dyn Guide + Send>)> {
        None
    }

    /// Who takes an execution on.
    fn guide(branch: Branch) -> Box<dyn Guide>;

    /// Takes in the first `to` events of an execution. Returns whether all that they lead to will be run.
    fn learn(&mut self, task: Self::Task, run: &Trace, to: usize, notes: Notes) -> bool;

    /// Whether nothing is left to run.
    fn is_done(&self) -> bool;
}

/// A planner that goes on from what the last execution showed.
#[derive(Debug, Default)]
pub struct OneByOne<W: Walk> {
    pub(super) walk: W,
    under_way: Option<(u64, W::Task)>,
    started: bool,
    next_id: u64,
    /// Something was left out.
    incomplete: bool,
}

impl<W: Walk> OneByOne<W> {
    /// A search that has run nothing yet.
    #[must_use]
    pub fn new() -> Self {
        let walk = W::default();
        Self { walk, under_way: None, started: false, next_id: 0, incomplete: false }
    }

    fn new_id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id - 1
    }
}

fn item(id: u64, prefix: Prefix, branch: Branch) -> WorkItem {
    WorkItem { id, prefix, cost: 0, branch: Some(Box::new(branch)) }
}

impl<W: Walk> Strategy for OneByOne<W> {
    fn next(&mut self, _cache: &Cache) -> Next {
        if self.under_way.is_some() {
            return Next::Wait;
        }
        let first = !std::mem::replace(&mut self.started, true);
        let next = if first { Some(Planned::default()) } else { self.walk.next() };
        let Some(Planned { prefix, branch, task, ahead }) = next else { return Next::Done };
        let id = ahead.unwrap_or_else(|| self.new_id());
        self.under_way = Some((id, task));
        Next::Work(item(id, prefix, branch))
    }

    fn guide<'a>(&'a self, item: &WorkItem, _cache: &'a Cache) -> Box<dyn Guide + 'a> {
        W::guide(item.branch.as_deref().cloned().unwrap_or_default())
    }

    fn ahead(&mut self, _cache: &Cache, others: usize) -> Option<(WorkItem, Box<dyn Guide + Send>)> {
        let (prefix, branch, guide) = self.walk.ahead(self.next_id, others)?;
        Some((item(self.new_id(), prefix, branch), guide))
    }

    fn learn(&mut self, item: &WorkItem, run: &Trace, notes: Notes, _cache: &Cache) {
        let Some((_, task)) = self.under_way.take_if(|(id, _)| *id == item.id) else { return };
        self.incomplete |= notes.withheld || notes.endless;
        if !notes.refused {
            self.incomplete |= !self.walk.learn(task, run, length(notes.endless), notes);
        }
    }

    fn reset(&mut self, _epoch: Epoch) {
        *self = Self { next_id: self.next_id, ..Self::new() };
    }

    fn coverage(&self, cut: Option<u32>) -> Coverage {
        let done = self.started && self.under_way.is_none() && self.walk.is_done();
        Coverage { everything: done && !self.incomplete && cut.is_none(), ..Coverage::default() }
    }

    fn bound(&self) -> Option<u32> {
        None
    }
}
