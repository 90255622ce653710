//! The common part of both searches: one execution after the other, each of which shows what there is to run.

use super::branch::Branch;
use super::planned::{Covers, Planned, ReplayPrefix, length};
use crate::cache::Cache;
use crate::event::names::ThreadName;
use crate::event::position::Position;
use crate::program::Epoch;
use crate::strategy::{Coverage, Guide, Next, Notes, Strategy, WorkItem};
use crate::trace::Trace;

/// The step of a search from one execution to the next.
pub trait Walk: Default + Send {
    /// The reason for an execution. The default is that it is the first one.
    type Task: Default + Send;

    /// The same search before it has run anything.
    fn anew(&self) -> Self {
        Self::default()
    }

    /// The first execution.
    fn first(&self) -> Planned<Self::Task> {
        Planned::default()
    }

    /// The next execution.
    fn next(&mut self) -> Option<Planned<Self::Task>>;

    /// One of the coming executions, for one of `others` workers, under this id: its replayed prefix, its branch, and the guide
    /// that takes it on. Each once. `None` where executions to come depend on those before them.
    fn ahead(&mut self, _id: u64, _others: usize) -> Option<(ReplayPrefix, Branch, Box<dyn Guide + Send>)> {
        None
    }

    /// The search that takes an execution on.
    fn guide(branch: Branch) -> Box<dyn Guide>;

    /// Takes in the first `to` events of an execution. Returns whether all that they lead to will be run.
    fn learn(&mut self, task: Self::Task, run: &Trace, to: Position, notes: Notes) -> bool;

    /// Whether an execution that ran to its end is one of those that are looked for.
    fn is_within(&mut self, _run: &Trace) -> bool {
        true
    }

    /// See [`Strategy::lacks_costs`].
    fn lacks_costs(&self) -> bool {
        false
    }

    /// Whether nothing is left to run.
    fn is_done(&self) -> bool;

    /// The part that it has covered, if it looks for a part.
    fn covers(&self) -> Covers {
        Covers::default()
    }

    /// The bound that is being explored.
    fn bound(&self) -> Option<u32> {
        None
    }
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
        Self::of(W::default())
    }

    pub(super) fn of(walk: W) -> Self {
        Self { walk, under_way: None, started: false, next_id: 0, incomplete: false }
    }

    fn new_id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id - 1
    }
}

fn item(id: u64, prefix: ReplayPrefix, branch: Branch) -> WorkItem {
    WorkItem { id, prefix, cost: 0, branch: Some(Box::new(branch)) }
}

/// Whether a timer could expire, or a client go. The end of that possibility is no operation of another thread that a reversal
/// could put behind it: orders may be left out.
fn has_timer(run: &Trace) -> bool {
    let is_one = |thread: ThreadName| thread.is_timer() || thread.is_client();
    run.steps.positions().any(|at| run.choices(at).iter().any(|choice| is_one(choice.agent.thread())))
}

impl<W: Walk> Strategy for OneByOne<W> {
    fn next(&mut self, _cache: &Cache) -> Next {
        if self.under_way.is_some() {
            return Next::Wait;
        }
        let first = !std::mem::replace(&mut self.started, true);
        let next = if first { Some(self.walk.first()) } else { self.walk.next() };
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
        self.incomplete |= notes.withheld || notes.endless || has_timer(run);
        if !notes.refused {
            self.incomplete |= !self.walk.learn(task, run, length(notes.endless), notes);
        }
    }

    fn reset(&mut self, _epoch: Epoch) {
        *self = Self { next_id: self.next_id, ..Self::of(self.walk.anew()) };
    }

    fn coverage(&self, cut: Option<u32>) -> Coverage {
        let done = self.started && self.under_way.is_none() && self.walk.is_done();
        let whole = !self.incomplete && cut.is_none();
        let Covers { preemptions, part } = self.walk.covers();
        let preemptions = preemptions.filter(|_| whole && self.started && self.under_way.is_none());
        Coverage { preemptions, everything: done && whole && !part, ..Coverage::default() }
    }

    fn is_within(&mut self, run: &Trace) -> bool {
        self.walk.is_within(run)
    }

    /// A class of schedules is run in whatever order its reversals leave.
    fn runs_at_least_cost(&self) -> bool {
        false
    }

    fn lacks_costs(&self) -> bool {
        self.walk.lacks_costs()
    }

    fn bound(&self) -> Option<u32> {
        self.walk.bound()
    }
}
