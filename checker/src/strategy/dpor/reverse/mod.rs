//! Dynamic partial-order reduction by reverse search: one execution of each Mazurkiewicz trace, in polynomial space.
//!
//! David Avis, Komei Fukuda: Reverse Search for Enumeration, Discrete Applied Mathematics 65, 1996: a tree of all that is to
//! be enumerated is walked without remembering what was visited, by a rule that gives each its parent. For executions the
//! idea is that of TruSt (Michalis Kokologiannakis, Iason Marmanis, Vladimir Gladstein, Viktor Vafeiadis: Truly Stateless,
//! Optimal Dynamic Partial Order Reduction, POPL 2022), where a reversal counts only if what it deletes was where a fixed
//! scheduler puts it.
//!
//! * *Canonical schedule* ([`order`]): the next event is a function of the set of events that have run. So it makes one trace
//!   of each set that is closed under happens-before.
//! * *Reading a trace* T: follow that schedule while it stays in T. Where its next event e is not in T, T has events before
//!   which e cannot be had. Of the first ones of these take the least, g; put in g with what happens before it, then e's
//!   operation again, and so on. The result is a unique sequence of reversals (e, g). The canonical execution has none.
//! * *Parent* of T: without its last reversal. It is what the canonical schedule makes of what ran before e, what
//!   happens before g, and e, g's operation going as soon as it can. It follows the canonical schedule longer than T does, so
//!   the way up ends.
//! * *Children* ([`children`]): the races of an execution the other way round, if the execution is the parent of the result.
//!   That is told from its trace ([`canonical`]): all that the reversal deletes must be what the canonical schedule would do. So no
//!   two reversals lead to one trace, and nothing need be put to sleep.
//!
//! Deviations: operations block, go several ways, and conflict in any way. Of alternative ways the first is canonical, and
//! the others are reversals of it. What was put first is the least of all that comes before e's operation and does not
//! commute with it ([`wait`]), until that has run: readers that commute keep a writer out for long. The canonical schedule
//! therefore lets no thread take a lock for reading that another thread is about to take for writing, unless nothing else can
//! run; and where something was put before an operation that waits, no lesser reader comes there at all: the trace would be
//! read in another way. If nothing else is left, what has run is no trace, but the parent of traces: the execution is given up
//! (pruned), and its races are reversed like those of any other.
//!
//! Questions that the trace of the parent does not answer are tried: an execution may be begun and given up (it is pruned).
//! They are whether an operation can run elsewhere (the first value of a semaphore, the condition of a spin loop) and whether a
//! compare-and-swap succeeds there, where no execution has shown it ([`known`]). Where it cannot be told whether something
//! deleted is canonical (that is, as long as nothing has shown the first value of a semaphore), it is taken to be: that could
//! repeat a trace, never lose one.
//!
//! With a bound on preemptions ([`bound`]) children that lead to nothing within it are left out.
//!
//! *Time.* An execution of t threads has n events, each of which an operation of each other thread can be put before once:
//! these are n t pairs. Few of them are looked at closer, since an operation in a hurry comes right after the last racing event that
//! could keep it ([`children`]); each of these takes O(t log n) ([`child`]). The rest of the execution is compared with the
//! canonical schedule as far as a reversal reaches, up to where exactly the first events of the execution have run: from
//! there on it is known ([`canonical`]). With waits for semaphores or locks for writing all pairs are looked at closer; and
//! where most operations are on different objects, reversals reach far, which takes O(n²). The levels of a bounded search go
//! through all operations on an object.
//!
//! Not with the cache, which would lose classes; and time-outs beyond their bound are left out, which is said. A circle of
//! waiting threads that only a time-out breaks is no end: it belongs to a moment, and of the moments of a class only those
//! are seen that the one execution passes through. All failures at ends are seen.

mod agent_state;
mod bound;
mod canonical;
mod canonical_rank;
mod child;
mod children;
mod expansion;
mod frame;
mod guide;
mod outcome_table;
mod pending_index;
mod rank_level;
mod speculative_guide;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::iter::repeat_n;
use std::sync::{Arc, PoisonError, RwLock};

use self::bound::PreemptionBound;
pub use self::expansion::Expansion;
use self::frame::{Child, Frame, ReversalTask};
use self::guide::ReversalGuide;
use self::outcome_table::OutcomeTable;
use self::speculative_guide::SpeculativeGuide;
use super::branch::Branch;
use super::enumerator::Enumeration;
pub(super) use super::overtaken::OvertakenOperation;
use super::planned::{EnumerationCoverage, PlannedExecution, ReplayPrefix};
use super::races::Races;
use crate::event::agent::Choice;
use crate::event::position::{PerEvent, Position};
use crate::event::step::OpKey;
use crate::limit::Limit;
use crate::strategy::speculation::WINDOW;
use crate::strategy::{Guide, Notes, speculation};
use crate::trace::Trace;

#[cfg(test)]
use super::enumerator::Enumerator;

/// The executions on the way to those that come next.
#[derive(Debug, Default)]
pub struct Reverse {
    /// Those that have children left.
    frames: Vec<Frame>,
    /// The executions that come next, in order. Those that one of them leads to come after these.
    next: VecDeque<PlannedExecution<ReversalTask>>,
    /// See [`Expansion::guesses`].
    guesses: bool,
    /// Executions that are run ahead of their turn look at it.
    known: Arc<RwLock<OutcomeTable>>,
    /// The bound on preemptions, if there is one.
    bound: Option<PreemptionBound>,
    /// Ends the planning.
    pub(super) limit: Limit,
}

#[cfg(test)]
impl Enumerator<Reverse> {
    /// Within a bound, keeping nothing of what is left out.
    pub(crate) fn forgetful(max: u32) -> Self {
        Self::of(Reverse { bound: Some(PreemptionBound::forgetful(max)), ..Reverse::default() })
    }

    /// The number of events that are kept.
    pub(crate) fn stored(&self) -> usize {
        let of = |frame: &Frame| {
            frame.steps.len() + frame.children.iter().map(|child| child.keep.threads() + 1).sum::<usize>()
        };
        let next = self.enumeration.next.iter().map(|planned| planned.prefix.len() + 1);
        self.enumeration.frames.iter().map(of).chain(next).sum()
    }
}

impl Reverse {
    /// Only what has at most so many preemptions.
    pub(super) fn within(max: u32) -> Self {
        Self { bound: Some(PreemptionBound::new(max)), ..Self::default() }
    }

    /// The next child of the last execution that has one.
    fn plan(&mut self) -> Option<PlannedExecution<ReversalTask>> {
        let (frame, child) = loop {
            let frame = self.frames.last_mut()?;
            if let Some(child) = frame.children.pop() {
                break (frame, child);
            }
            self.frames.pop();
        };
        let (prefix, branch) = begin(&frame.steps, &child, self.bound.is_some());
        let task =
            ReversalTask { scheduled: scheduled(&frame.scheduled, &child), child: Some(child), rerun: false };
        Some(PlannedExecution { prefix, branch, task, speculation_id: None })
    }

    /// Chooses as many executions as can be run ahead.
    fn plan_window(&mut self) {
        let wanted = if self.guesses { 1 } else { WINDOW };
        while self.next.len() < wanted
            && let Some(planned) = self.plan()
        {
            self.next.push_back(planned);
        }
    }

    /// The execution that comes before all that were chosen: of a class whose cost is not known, or the first one, if the search
    /// begins anew.
    fn first_of_all(&mut self) -> Option<PlannedExecution<ReversalTask>> {
        let bound = self.bound.as_mut()?;
        if let Some(prefix) = bound.unsure.take() {
            let branch = Branch { at: Position::after(prefix.len()), bounded: true, ..Branch::default() };
            return Some(PlannedExecution {
                prefix,
                branch,
                task: ReversalTask { rerun: true, ..ReversalTask::default() },
                speculation_id: None,
            });
        }
        bound.begins_anew().then(|| {
            self.frames.clear();
            self.next.clear();
            self.first()
        })
    }
}

/// Of each event that is replayed for a child, whether it was put where it is by a reversal.
fn scheduled(of_parent: &PerEvent<bool>, child: &Child) -> PerEvent<bool> {
    of_parent[..child.at].iter().copied().chain(repeat_n(true, child.keep.len())).collect()
}

/// The part of an execution that is replayed for its child, and the branch by which that goes on.
fn begin(steps: &[(Choice, OpKey)], child: &Child, bounded: bool) -> (ReplayPrefix, Branch) {
    let kept = child.keep.of(steps, child.at);
    let prefix: ReplayPrefix = steps[..child.at.count()].iter().chain(kept).cloned().collect();
    let branch = Branch {
        at: Position::after(prefix.len()),
        next: Some(child.next.clone()),
        reversed_agent: Some(child.reversed_agent),
        required_conflicts: child.required_conflicts.clone(),
        overtaken: child.overtaken.clone(),
        bounded,
        ..Branch::default()
    };
    (prefix, branch)
}

impl Enumeration for Reverse {
    type Task = ReversalTask;

    fn anew(&self) -> Self {
        let (bound, limit) = (self.bound.as_ref().map(PreemptionBound::anew), self.limit.clone());
        Self { bound, limit, ..Self::default() }
    }

    fn first(&self) -> PlannedExecution<ReversalTask> {
        let branch = Branch { bounded: self.bound.is_some(), ..Branch::default() };
        PlannedExecution { branch, ..PlannedExecution::default() }
    }

    /// As many executions are chosen at once as can be run ahead. The tree of executions is the same in whatever order it is
    /// walked, so each of them is run, and nothing for nothing. Executions that cost more come once all of these have been run.
    fn next(&mut self) -> Option<PlannedExecution<ReversalTask>> {
        if let Some(planned) = self.first_of_all() {
            return Some(planned);
        }
        self.plan_window();
        if self.next.is_empty() {
            self.frames = self.bound.as_mut()?.next_frames()?;
            self.plan_window();
        }
        self.next.pop_front()
    }

    fn speculate(&mut self, id: u64, others: usize) -> Option<(ReplayPrefix, Branch, Box<dyn Guide + Send>)> {
        let at =
            speculation::choose(self.next.iter().map(|planned| planned.speculation_id.is_some()), others)?;
        let PlannedExecution { prefix, branch, task, speculation_id } = &mut self.next[at];
        *speculation_id = Some(id);
        let max = self.bound.as_ref().map(|bound| bound.max);
        let guide = SpeculativeGuide::new(
            ReversalGuide::new(branch.clone()),
            task.clone(),
            &self.known,
            (max, &self.limit),
        );
        Some((prefix.clone(), branch.clone(), Box::new(guide)))
    }

    fn guide(branch: Branch) -> Box<dyn Guide> {
        Box::new(ReversalGuide::new(branch))
    }

    fn learn(&mut self, task: ReversalTask, run: &Trace, to: Position, notes: Notes) -> bool {
        if task.rerun {
            let shown = OutcomeTable::of(&Races::new(run));
            self.known.write().unwrap_or_else(PoisonError::into_inner).take_in(&shown);
            return true;
        }
        let max = self.bound.as_ref().map(|bound| bound.max);
        let early = notes.expansion.filter(|expansion| expansion.holds(&self.known));
        let expansion = early.map_or_else(
            || Expansion::of(task, run, to, notes.given_up, &self.known, (max, &self.limit)),
            |early| *early,
        );
        expansion.teach(&self.known);
        self.guesses = expansion.guesses();
        let Expansion { steps, scheduled, children, whole, unsupported, .. } = expansion;
        let mut frame = Frame { steps, scheduled, children };
        if let Some(bound) = &mut self.bound {
            bound.take(&mut frame, &unsupported);
        }
        if !frame.children.is_empty() {
            self.frames.push(frame);
        }
        whole
    }

    fn is_within(&mut self, run: &Trace) -> bool {
        self.bound.as_mut().is_none_or(|bound| bound.is_within(run, &self.known))
    }

    fn lacks_costs(&self) -> bool {
        self.bound.as_ref().is_some_and(PreemptionBound::lacks_costs)
    }

    fn is_done(&self) -> bool {
        self.frames.iter().all(|frame| frame.children.is_empty())
            && self.next.is_empty()
            && self.bound.as_ref().is_none_or(PreemptionBound::is_done)
    }

    fn covers(&self) -> EnumerationCoverage {
        self.bound.as_ref().map_or(EnumerationCoverage::default(), |bound| bound.covers(self.is_done()))
    }

    fn bound(&self) -> Option<u32> {
        self.bound.as_ref().map(|bound| bound.now)
    }
}
