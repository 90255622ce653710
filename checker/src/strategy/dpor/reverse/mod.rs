//! Dynamic partial-order reduction by reverse search: one execution of each Mazurkiewicz trace, in polynomial space.
//!
//! David Avis, Komei Fukuda: Reverse Search for Enumeration, Discrete Applied Mathematics 65, 1996: a tree of all that is to
//! be enumerated is walked without remembering what was visited, by a rule that gives each its parent. For executions the
//! idea is that of TruSt (Michalis Kokologiannakis, Iason Marmanis, Vladimir Gladstein, Viktor Vafeiadis: Truly Stateless,
//! Optimal Dynamic Partial Order Reduction, POPL 2022), where a reversal counts only if what it deletes was where a fixed
//! scheduler puts it.
//!
//! * *Canonical schedule* ([`order`]): which event comes next is a function of the set of events that have run. So it makes
//!   one trace of each set that is closed under happens-before.
//! * *Reading a trace* T: follow that schedule while it stays in T. Where its next event e is not in T, T has events before
//!   which e cannot be had. Of the first ones of these take the least, g; put in g with what happens before it, then e's
//!   operation again, and so on. What is found is a unique sequence of reversals (e, g). The canonical execution has none.
//! * *Parent* of T: without its last reversal. It is what the canonical schedule makes of what ran before e, what
//!   happens before g, and e, g's operation going as soon as it can. It follows the canonical schedule longer than T does, so
//!   the way up ends.
//! * *Children* ([`children`]): the races of an execution the other way round, if the execution is the parent of the result.
//!   That is told from its trace ([`canon`]): all that the reversal deletes must be what the canonical schedule would do. So no
//!   two reversals lead to one trace, and nothing need be put to sleep.
//!
//! Deviations: operations block, go several ways, and conflict in any way. Of alternative ways the first is canonical, and
//! the others are reversals of it. What was put first is the least of all that comes before e's operation and does not
//! commute with it ([`wait`]), until that has run: readers that commute keep a writer out for long. The canonical schedule
//! therefore lets nobody take a lock for reading that another thread is about to take for writing, unless nothing else can
//! run; and where something was put before an operation that waits, no lesser reader comes there at all: the trace would
//! be read in another way. If nothing else is left, what has run is no trace, but the parent of traces: the execution is
//! given up (pruned), and its races are reversed like those of any other.
//!
//! What the trace of the parent does not show is tried: an execution may be begun and given up (it is pruned). That is
//! whether an operation can run elsewhere (the first value of a semaphore, the condition of a spin loop) or whether a
//! compare-and-swap succeeds there, where no execution has shown it ([`known`]). Where it cannot be told whether something
//! deleted is canonical (that is, as long as nothing has shown the first value of a semaphore), it is taken to be: that could
//! repeat a trace, never lose one.
//!
//! Not with the cache, which would lose classes; and time-outs beyond their bound are left out, which is said. A circle of
//! waiting threads that only a time-out breaks is no end: it belongs to a moment, and of the moments of a class only those
//! are seen that the one execution passes through. All failures at ends are seen.

mod canon;
mod children;
mod guide;
mod known;
mod offspring;
mod order;
mod wait;

use std::collections::VecDeque;
use std::sync::{Arc, RwLock};

use self::children::Child;
use self::guide::Follower;
use self::known::Known;
use self::offspring::Forerunner;
pub use self::offspring::Offspring;
pub(super) use self::wait::Wait;
use super::branch::Branch;
#[cfg(test)]
use super::one_by_one::OneByOne;
use super::one_by_one::{Planned, Prefix, Walk};
use crate::seam::{Choice, OpKey};
use crate::strategy::ahead::{self, WINDOW};
use crate::strategy::{Guide, Notes};
use crate::trace::Trace;

/// The executions on the way to those that come next.
#[derive(Debug, Default)]
pub struct Reverse {
    /// Those that have children left.
    frames: Vec<Frame>,
    /// What comes next, in order. What an execution leads to comes after these.
    next: VecDeque<Planned<Task>>,
    /// See [`Offspring::guesses`].
    guesses: bool,
    /// Executions that are run ahead of their turn look at it.
    known: Arc<RwLock<Known>>,
}

/// An execution, and what is still to be made of it.
#[derive(Debug)]
struct Frame {
    steps: Prefix,
    scheduled: Vec<bool>,
    children: Vec<Child>,
}

/// What an execution is run for.
#[derive(Clone, Debug, Default)]
pub struct Task {
    /// Which of the events before the reversed one, which comes next, were put where they are by a reversal.
    scheduled: Vec<bool>,
    child: Option<Child>,
}

#[cfg(test)]
impl OneByOne<Reverse> {
    /// How many events are kept.
    pub(crate) fn stored(&self) -> usize {
        let of = |frame: &Frame| {
            frame.steps.len() + frame.children.iter().map(|child| child.keep.len() + 1).sum::<usize>()
        };
        let next = self.walk.next.iter().map(|planned| planned.prefix.len() + 1);
        self.walk.frames.iter().map(of).chain(next).sum()
    }
}

impl Reverse {
    /// The next child of the last execution that has one.
    fn plan(&mut self) -> Option<Planned<Task>> {
        let (frame, child) = loop {
            let frame = self.frames.last_mut()?;
            if let Some(child) = frame.children.pop() {
                break (frame, child);
            }
            self.frames.pop();
        };
        let (prefix, branch) = begin(&frame.steps, &child);
        let task = Task { scheduled: scheduled(&frame.scheduled, &child), child: Some(child) };
        Some(Planned { prefix, branch, task, ahead: None })
    }
}

/// Which of the events that are replayed for a child were put where they are by a reversal.
fn scheduled(of_parent: &[bool], child: &Child) -> Vec<bool> {
    of_parent[..child.at].iter().copied().chain(child.keep.iter().map(|_| true)).collect()
}

/// What is replayed of an execution for its child, and how that goes on.
fn begin(steps: &[(Choice, OpKey)], child: &Child) -> (Prefix, Branch) {
    let kept = child.keep.iter().map(|&at| steps[at as usize].clone());
    let prefix: Prefix = steps[..child.at].iter().cloned().chain(kept).collect();
    let branch = Branch {
        at: prefix.len() as u32,
        next: Some(child.next.clone()),
        again: Some(child.again),
        provided: child.provided.clone(),
        waits: child.waits.clone(),
        ..Branch::default()
    };
    (prefix, branch)
}

impl Walk for Reverse {
    type Task = Task;

    /// As many executions are chosen at once as can be run ahead. The tree of executions is the same in whatever order it is
    /// walked, so each of them is run, and nothing for nothing.
    fn next(&mut self) -> Option<Planned<Task>> {
        let wanted = if self.guesses { 1 } else { WINDOW };
        while self.next.len() < wanted
            && let Some(planned) = self.plan()
        {
            self.next.push_back(planned);
        }
        self.next.pop_front()
    }

    fn ahead(&mut self, id: u64, others: usize) -> Option<(Prefix, Branch, Box<dyn Guide + Send>)> {
        let at = ahead::choose(self.next.iter().map(|planned| planned.ahead.is_some()), others)?;
        let Planned { prefix, branch, task, ahead } = &mut self.next[at];
        *ahead = Some(id);
        let guide = Forerunner::new(Follower::new(branch.clone()), task.clone(), &self.known);
        Some((prefix.clone(), branch.clone(), Box::new(guide)))
    }

    fn guide(branch: Branch) -> Box<dyn Guide> {
        Box::new(Follower::new(branch))
    }

    fn learn(&mut self, task: Task, run: &Trace, to: usize, notes: Notes) -> bool {
        let early = notes.offspring.filter(|offspring| offspring.holds(&self.known));
        let offspring =
            early.map_or_else(|| Offspring::of(task, run, to, notes.given_up, &self.known), |early| *early);
        offspring.teach(&self.known);
        self.guesses = offspring.guesses();
        let Offspring { steps, scheduled, children, whole, .. } = offspring;
        if !children.is_empty() {
            self.frames.push(Frame { steps, scheduled, children });
        }
        whole
    }

    fn is_done(&self) -> bool {
        self.frames.is_empty() && self.next.is_empty()
    }
}
