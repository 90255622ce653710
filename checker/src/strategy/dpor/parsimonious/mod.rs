//! Dynamic partial-order reduction: one execution of each Mazurkiewicz trace, in polynomial space.
//!
//! Parosh Aziz Abdulla, Mohamed Faouzi Atig, Sarbojit Das, Bengt Jonsson, Konstantinos Sagonas: Parsimonious Optimal
//! Dynamic Partial Order Reduction, CAV 2024. Of each execution, the races whose later operation it has seen first are
//! reversed, and nothing is remembered but the executions that led to the present one:
//!
//! * An execution runs by default where nothing else is said. The race of a default event d with a later operation e is
//!   reversed by an execution that goes to the state before d, runs what happens before e without d, and then e. All of
//!   this is *scheduled*: it is never the earlier event of a race again. After that the execution runs by default.
//! * *Parsimony*: a race is reversed only if all that is scheduled after d happens before e. Otherwise e can be had without
//!   what was scheduled, and the race is reversed where it was.
//!
//! The races of the paper are of reads and writes; its sleep sets are described by the schedules of a race. Here
//! operations block, go several ways, and conflict in any way, so instead of sleep sets there is a canonical order: see
//! [`order`]. Hence whether a race is reversed depends on its own execution only, and reversals can be run by several
//! workers in any order.
//!
//! Why each trace T is visited, and once: follow the executions from the first one on. The first event d at which an
//! execution leaves T either comes in T after events that conflict with it, or not at all. Of these events one comes
//! first by [`order`], e. What happens before e in T is a smaller trace, which is reached from d on in the same way, and
//! uniquely; that execution reverses d with e. Deviations where operations block are in [`super::races`] and
//! [`super::locks`]. Where it cannot be told whether an operation can run, it is tried: then an execution may turn out to
//! lead nowhere (it is pruned, never run twice to the same end).
//!
//! An execution is also pruned, at once, where the order turns out to be another one than what the operations had done
//! before has shown: a compare-and-swap that fails where it had succeeded, an arrival in another generation of a barrier;
//! or because what comes by itself, while an event cannot run again, should have been scheduled before it.
//!
//! Not with the cache, which would lose classes; and time-outs beyond their bound are left out, which is said. A circle of
//! waiting threads that only a time-out breaks is no end: it belongs to a moment, and of the moments of a class only those
//! are seen that the one execution passes through; that is said, too. All failures at ends are seen.

mod frame;
mod guide;
mod order;
mod path;
mod plan;

use rustc_hash::FxHashMap;

use self::frame::{Fate, Frame};
use self::guide::Follower;
pub(super) use self::order::Waiting;
use self::path::Path;
use self::plan::Plan;
use super::OF_A_CUT_ONE;
use super::branch::{Branch, Order};
use crate::cache::Cache;
use crate::seam::Epoch;
use crate::strategy::{Coverage, Guide, Next, Notes, Strategy, WorkItem};
use crate::trace::Trace;

/// A planner that explores each Mazurkiewicz trace once.
#[derive(Debug, Default)]
pub struct Dpor {
    /// The executions that led to the present one, each with the races of it that are still to be reversed.
    frames: Vec<Frame>,
    under_way: FxHashMap<u64, UnderWay>,
    started: bool,
    next_id: u64,
    next_frame: u64,
    /// Something was left out.
    incomplete: bool,
    /// Time ran out in some execution.
    timed: bool,
}

/// An item that was handed out.
#[derive(Debug)]
struct UnderWay {
    /// The frame that it is of, and which of its plans it is; `None` for the first execution.
    of: Option<(u64, usize)>,
    /// What it has to run.
    path: Path,
}

impl Dpor {
    /// A search that starts with the default schedule.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// How many events are kept, those of executions and those of plans.
    #[cfg(test)]
    pub(crate) fn stored(&self) -> usize {
        let under_way = self.under_way.values().map(|item| item.path.len());
        self.frames.iter().map(Frame::stored).chain(under_way).sum()
    }

    fn hand_out(&mut self, of: Option<(u64, usize)>, path: Path, order: Order) -> WorkItem {
        let id = self.next_id;
        self.next_id += 1;
        let last = path.last().map(|placed| placed.event.clone());
        let before = path.len().saturating_sub(1);
        let prefix = path[..before].iter().map(|placed| placed.event.step()).collect();
        self.under_way.insert(id, UnderWay { of, path });
        let branch = Branch { at: before as u32, asleep: Vec::new(), next: last, order };
        WorkItem { id, prefix, cost: 0, branch: Some(Box::new(branch)) }
    }

    fn frame(&mut self, id: u64) -> Option<&mut Frame> {
        self.frames.iter_mut().rev().find(|frame| frame.id == id)
    }
}

impl Strategy for Dpor {
    fn next(&mut self, _cache: &Cache) -> Next {
        if !self.started {
            self.started = true;
            return Next::Work(self.hand_out(None, Path::new(), Order::default()));
        }
        self.frames.retain(|frame| !frame.is_done());
        let next = self.frames.iter_mut().rev().find_map(|frame| Some((frame.id, frame.take_next()?)));
        match next {
            Some((frame, (nth, path, order))) => Next::Work(self.hand_out(Some((frame, nth)), path, order)),
            None if self.under_way.is_empty() => Next::Done,
            None => Next::Wait,
        }
    }

    fn guide<'a>(&'a self, item: &WorkItem, _cache: &'a Cache) -> Box<dyn Guide + 'a> {
        Box::new(Follower::new(item.branch.as_deref()))
    }

    fn learn(&mut self, item: &WorkItem, run: &Trace, notes: Notes, _cache: &Cache) {
        let Some(UnderWay { of, mut path }) = self.under_way.remove(&item.id) else { return };
        self.incomplete |= notes.withheld || notes.endless;
        self.timed |= run.steps.iter().any(|step| !step.is_own());
        let fate = if notes.refused { Fate::Refused } else { Fate::Ran };
        if let Some((frame, nth)) = of
            && let Some(frame) = self.frame(frame)
        {
            frame.settle(nth, fate);
        }
        if notes.refused || notes.late {
            return;
        }
        let fresh = path.len().saturating_sub(1);
        path::extend(&mut path, run);
        let to = if notes.endless { OF_A_CUT_ONE } else { usize::MAX };
        let plans = Plan::all(run, &path, fresh, to);
        if !plans.is_empty() {
            self.frames.push(Frame::new(self.next_frame, path, plans));
            self.next_frame += 1;
        }
    }

    fn reset(&mut self, _epoch: Epoch) {
        *self = Self { next_id: self.next_id, ..Self::default() };
    }

    fn coverage(&self, cut: Option<u32>) -> Coverage {
        let done = self.started && self.under_way.is_empty() && self.frames.iter().all(Frame::is_done);
        Coverage { everything: done && !self.incomplete && cut.is_none(), ..Coverage::default() }
    }

    fn bound(&self) -> Option<u32> {
        None
    }

    fn remark(&self) -> Option<&'static str> {
        self.timed.then_some(
            "dpor does not pass through every moment at which threads wait for each other and only a time-out lets them \
             go on: icb does",
        )
    }
}
