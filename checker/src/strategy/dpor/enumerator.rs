//! The common part of both searches: one execution after the other, each of which shows what there is to run.

use super::branch::Branch;
use super::planned::{EnumerationCoverage, PlannedExecution, ReplayPrefix, length};
use crate::cache::Cache;
use crate::event::names::ThreadName;
use crate::event::position::Position;
use crate::program::Epoch;
use crate::strategy::{Coverage, Guide, Next, Notes, Strategy, WorkItem};
use crate::trace::Trace;

/// The step of a search from one execution to the next.
pub trait Enumeration: Default + Send {
    /// The reason for an execution. The default is that it is the first one.
    type Task: Default + Send;

    /// The same search before it has run anything.
    fn anew(&self) -> Self {
        Self::default()
    }

    /// The first execution.
    fn first(&self) -> PlannedExecution<Self::Task> {
        PlannedExecution::default()
    }

    /// The next execution.
    fn next(&mut self) -> Option<PlannedExecution<Self::Task>>;

    /// One of the coming executions, for one of `others` workers, under this id: its replayed prefix, its branch, and the guide
    /// that takes it on. Each once. `None` where executions to come depend on those before them.
    fn speculate(
        &mut self,
        _id: u64,
        _others: usize,
    ) -> Option<(ReplayPrefix, Branch, Box<dyn Guide + Send>)> {
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
    fn covers(&self) -> EnumerationCoverage {
        EnumerationCoverage::default()
    }

    /// The bound that is being explored.
    fn bound(&self) -> Option<u32> {
        None
    }
}

/// A planner that goes on from what the last execution showed.
#[derive(Debug, Default)]
pub struct Enumerator<W: Enumeration> {
    pub(super) enumeration: W,
    in_flight: Option<(u64, W::Task)>,
    started: bool,
    next_id: u64,
    /// Something was left out.
    incomplete: bool,
    /// See [`Strategy::has_mispredicted`].
    has_mispredicted: bool,
}

impl<W: Enumeration> Enumerator<W> {
    /// A search that has run nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::of(W::default())
    }

    pub(super) fn of(enumeration: W) -> Self {
        Self {
            enumeration,
            in_flight: None,
            started: false,
            next_id: 0,
            incomplete: false,
            has_mispredicted: false,
        }
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

impl<W: Enumeration> Strategy for Enumerator<W> {
    fn next(&mut self, _cache: &Cache) -> Next {
        if self.in_flight.is_some() {
            return Next::Wait;
        }
        let first = !std::mem::replace(&mut self.started, true);
        let next = if first { Some(self.enumeration.first()) } else { self.enumeration.next() };
        let Some(PlannedExecution { prefix, branch, task, speculation_id }) = next else { return Next::Done };
        let id = speculation_id.unwrap_or_else(|| self.new_id());
        self.in_flight = Some((id, task));
        Next::Work(item(id, prefix, branch))
    }

    fn guide<'a>(&'a self, item: &WorkItem, _cache: &'a Cache) -> Box<dyn Guide + 'a> {
        W::guide(item.branch.as_deref().cloned().unwrap_or_default())
    }

    fn speculate(&mut self, _cache: &Cache, others: usize) -> Option<(WorkItem, Box<dyn Guide + Send>)> {
        let (prefix, branch, guide) = self.enumeration.speculate(self.next_id, others)?;
        Some((item(self.new_id(), prefix, branch), guide))
    }

    fn learn(&mut self, item: &WorkItem, run: &Trace, notes: Notes, _cache: &Cache) {
        let Some((_, task)) = self.in_flight.take_if(|(id, _)| *id == item.id) else { return };
        self.has_mispredicted |= notes.mispredicted;
        self.incomplete |= notes.timeouts_bounded || notes.limit_reached || notes.left_out || has_timer(run);
        self.incomplete |= notes.mispredicted;
        if !notes.infeasible && !notes.mispredicted {
            self.incomplete |= !self.enumeration.learn(task, run, length(notes.limit_reached), notes);
        }
    }

    fn reset(&mut self, _epoch: Epoch) {
        *self = Self { next_id: self.next_id, ..Self::of(self.enumeration.anew()) };
    }

    fn coverage(&self, cut: Option<u32>) -> Coverage {
        let done = self.started && self.in_flight.is_none() && self.enumeration.is_done();
        let whole = !self.incomplete && cut.is_none();
        let EnumerationCoverage { preemptions, part } = self.enumeration.covers();
        let preemptions = preemptions.filter(|_| whole && self.started && self.in_flight.is_none());
        Coverage { preemptions, everything: done && whole && !part, ..Coverage::default() }
    }

    fn is_within(&mut self, run: &Trace) -> bool {
        self.enumeration.is_within(run)
    }

    /// A class of schedules is run in whatever order its reversals leave.
    fn covered_at_least_cost(&self, _covered: Coverage, _cut: Option<u32>) -> Coverage {
        Coverage::default()
    }

    fn lacks_costs(&self) -> bool {
        self.enumeration.lacks_costs()
    }

    fn has_mispredicted(&self) -> bool {
        self.has_mispredicted
    }

    fn may_cover_everything(&self) -> bool {
        !self.incomplete
    }

    fn bound(&self) -> Option<u32> {
        self.enumeration.bound()
    }
}
