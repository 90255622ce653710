//! What both searches share: one execution after the other, each of which shows what there is to run.

use super::branch::Branch;
use crate::cache::Cache;
use crate::seam::{Choice, Epoch, OpKey};
use crate::strategy::{Coverage, Guide, Next, Notes, Strategy, WorkItem};
use crate::trace::Trace;

/// Of an execution that was ended by a limit, the races of this many events are reversed.
const OF_A_CUT_ONE: usize = 2_000;

/// What is replayed.
pub(super) type Prefix = Vec<(Choice, OpKey)>;

/// How a search gets from one execution to the next.
pub trait Walk: Default + Send {
    /// What an execution is run for. The default is that it is the first one.
    type Task: Default + Send;

    /// The next execution: what is replayed, and how it goes on.
    fn next(&mut self) -> Option<(Prefix, Branch, Self::Task)>;

    /// Who takes an execution on.
    fn guide(branch: Branch) -> Box<dyn Guide>;

    /// Takes in the first `to` events of an execution, which was perhaps given up after them. Returns whether all that they
    /// lead to will be run.
    fn learn(&mut self, task: Self::Task, run: &Trace, to: usize, given_up: bool) -> bool;

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
}

impl<W: Walk> Strategy for OneByOne<W> {
    fn next(&mut self, _cache: &Cache) -> Next {
        if self.under_way.is_some() {
            return Next::Wait;
        }
        let first = !std::mem::replace(&mut self.started, true);
        let next = if first { Some(<_>::default()) } else { self.walk.next() };
        let Some((prefix, branch, task)) = next else { return Next::Done };
        let id = self.next_id;
        self.next_id += 1;
        self.under_way = Some((id, task));
        Next::Work(WorkItem { id, prefix, cost: 0, branch: Some(Box::new(branch)) })
    }

    fn guide<'a>(&'a self, item: &WorkItem, _cache: &'a Cache) -> Box<dyn Guide + 'a> {
        W::guide(item.branch.as_deref().cloned().unwrap_or_default())
    }

    fn learn(&mut self, item: &WorkItem, run: &Trace, notes: Notes, _cache: &Cache) {
        let Some((_, task)) = self.under_way.take_if(|(id, _)| *id == item.id) else { return };
        self.incomplete |= notes.withheld || notes.endless;
        if !notes.refused {
            let to = if notes.endless { OF_A_CUT_ONE } else { usize::MAX };
            self.incomplete |= !self.walk.learn(task, run, to, notes.given_up);
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
