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
//! the others are reversals of it. Where it cannot be told whether an operation can run elsewhere (the first value of a
//! semaphore, the condition of a spin loop), or whether a compare-and-swap succeeds there, and no execution has shown it
//! ([`known`]), it is tried: an execution may be begun and given up at that operation (it is pruned). Where it
//! cannot be told whether something deleted is canonical, it is taken to be: that can repeat a trace, never lose one. The same
//! holds where several readers keep a writer out who had come first by the canonical schedule, which therefore lets writers
//! wait.
//!
//! Not with the cache, which would lose classes; and time-outs beyond their bound are left out, which is said. A circle of
//! waiting threads that only a time-out breaks is no end: it belongs to a moment, and of the moments of a class only those
//! are seen that the one execution passes through. All failures at ends are seen.

mod canon;
mod children;
mod guide;
mod known;
mod order;

use self::canon::Canon;
use self::children::Child;
use self::guide::Follower;
use self::known::Known;
use super::OF_A_CUT_ONE;
use super::branch::Branch;
use super::moves::Move;
use super::races::Races;
use crate::cache::Cache;
use crate::op::Effect;
use crate::seam::Epoch;
use crate::strategy::{Coverage, Guide, Next, Notes, Strategy, WorkItem};
use crate::trace::Trace;

/// A planner that explores each Mazurkiewicz trace once.
#[derive(Debug, Default)]
pub struct ReverseSearch {
    /// The executions that led to the present one, as far as they have children left.
    frames: Vec<Frame>,
    under_way: Option<UnderWay>,
    known: Known,
    started: bool,
    next_id: u64,
    /// Something was left out.
    incomplete: bool,
}

/// An execution, and what is still to be made of it.
#[derive(Debug)]
struct Frame {
    steps: Vec<Move>,
    places: Vec<Place>,
    children: Vec<Child>,
}

/// How an event came to its place in an execution.
#[derive(Clone, Debug, Default)]
struct Place {
    /// It was put there by a reversal.
    scheduled: bool,
    /// It runs again after these, which conflict with what it did without them.
    over: Vec<Over>,
}

/// An event that was put before another one.
#[derive(Clone, Debug)]
struct Over {
    /// Its position.
    at: usize,
    /// What the other one did without it.
    effect: Effect,
}

/// The item that was handed out.
#[derive(Debug)]
struct UnderWay {
    id: u64,
    /// What became of the events before the reversed one, which comes next.
    places: Vec<Place>,
    child: Option<Child>,
}

impl ReverseSearch {
    /// A search that starts with the canonical schedule.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// How many events are kept.
    #[cfg(test)]
    pub(crate) fn stored(&self) -> usize {
        let of = |frame: &Frame| {
            frame.steps.len() + frame.children.iter().map(|child| child.keep.len() + 1).sum::<usize>()
        };
        self.frames.iter().map(of).sum()
    }

    fn hand_out(&mut self, prefix: Vec<Move>, places: Vec<Place>, child: Option<Child>) -> WorkItem {
        let id = self.next_id;
        self.next_id += 1;
        let branch = child.as_ref().map(|child| Branch {
            at: prefix.len() as u32,
            asleep: Vec::new(),
            next: Some(child.next.clone()),
            again: Some(child.again),
            provided: child.provided.clone(),
        });
        self.under_way = Some(UnderWay { id, places, child });
        WorkItem {
            id,
            prefix: prefix.iter().map(Move::step).collect(),
            cost: 0,
            branch: branch.map(Box::new),
        }
    }

    /// The next child of the last execution that has one.
    fn take_next(&mut self) -> Option<(Vec<Move>, Vec<Place>, Child)> {
        let (frame, child) = loop {
            let frame = self.frames.last_mut()?;
            if let Some(child) = frame.children.pop() {
                break (frame, child);
            }
            self.frames.pop();
        };
        let kept = child.keep.iter().map(|&at| frame.steps[at as usize].clone());
        let prefix = frame.steps[..child.at].iter().cloned().chain(kept).collect();
        let kept = child.keep.iter().map(|_| Place { scheduled: true, over: Vec::new() });
        let places = frame.places[..child.at].iter().cloned().chain(kept).collect();
        Some((prefix, places, child))
    }
}

impl Strategy for ReverseSearch {
    fn next(&mut self, _cache: &Cache) -> Next {
        if self.under_way.is_some() {
            return Next::Wait;
        }
        if !self.started {
            self.started = true;
            return Next::Work(self.hand_out(Vec::new(), Vec::new(), None));
        }
        match self.take_next() {
            Some((prefix, places, child)) => Next::Work(self.hand_out(prefix, places, Some(child))),
            None => Next::Done,
        }
    }

    fn guide<'a>(&'a self, item: &WorkItem, _cache: &'a Cache) -> Box<dyn Guide + 'a> {
        Box::new(Follower::new(item.branch.as_deref().cloned().unwrap_or_default()))
    }

    fn learn(&mut self, item: &WorkItem, run: &Trace, notes: Notes, _cache: &Cache) {
        let Some(under_way) = self.under_way.take_if(|under_way| under_way.id == item.id) else { return };
        self.incomplete |= notes.withheld || notes.endless;
        if notes.refused {
            return;
        }
        let UnderWay { mut places, child, .. } = under_way;
        let mut children = Vec::new();
        if let Some(child) = child {
            let at = places.len();
            places.push(Place { scheduled: true, over: Vec::new() });
            children.extend(child.other_ways(run, at));
            if run.steps.get(at + 1).is_some_and(|step| step.choice.agent == child.again) {
                let over = child
                    .over
                    .into_iter()
                    .map(|over| Over { at: over.at.unwrap_or(at), effect: over.effect });
                places.push(Place { scheduled: false, over: over.collect() });
            }
        }
        places.resize_with(run.steps.len(), Place::default);
        let to = if notes.endless { OF_A_CUT_ONE } else { usize::MAX };
        let races = Races::new(run);
        self.known.learn(&races);
        let canon = Canon::new(&races, &self.known, to);
        let (more, whole) = children::all(&races, &canon, &places, to);
        self.incomplete |= !whole;
        children.extend(more);
        if !children.is_empty() {
            let steps = run.steps.iter().take(to).map(Move::of).collect();
            self.frames.push(Frame { steps, places, children });
        }
    }

    fn reset(&mut self, _epoch: Epoch) {
        *self = Self { next_id: self.next_id, ..Self::default() };
    }

    fn coverage(&self, cut: Option<u32>) -> Coverage {
        let done = self.started && self.frames.is_empty() && self.under_way.is_none();
        Coverage { everything: done && !self.incomplete && cut.is_none(), ..Coverage::default() }
    }

    fn bound(&self) -> Option<u32> {
        None
    }
}
