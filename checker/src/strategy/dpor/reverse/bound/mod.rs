//! A bound on preemptions: the children that are left out, and until when.
//!
//! The idea is that of Iason Marmanis, Michalis Kokologiannakis, Viktor Vafeiadis: Reconciling Preemption Bounding with DPOR,
//! TACAS 2023: a trace costs as much as its cheapest linearisation ([`mod@min_preemptions`]), what costs more is not explored, and as
//! what leads to a trace may cost more than that itself, so does what is explored. Where they add a slack to the bound (the
//! number of threads less 2), here a child is left out if all that it can lead to costs too much. That is told from the *core*
//! of a child: all events that reversals have put where they are, with all that happens before them, but for the last one that
//! was put first.
//!
//! * *All descendants of a trace contain its core*, with the same happens-before. Let Y be the parent of X, by the reversal
//!   (e, g). Then Y is what the canonical schedule makes of a set of events B, of which all but e are in X; so the core of Y
//!   has to lie in B, from where it is in the core of X as well. Suppose the canonical schedule, on its way from B, runs an
//!   event of the core of Y that is not g's operation, and let z be the first event in the reading of Y that has not run by
//!   then. All before z in the reading has run, and what has run besides does not conflict with z, or it would come after
//!   it: so z can run. Was z put there before some e', then e' could run where z was put, and can run here, and was least
//!   there. Was it not, then z was least itself. What else can run here could run there and was greater, or was let go
//!   by something that has run since, comes after it, and is greater than that ([`super::rank_level`]). So the canonical schedule
//!   runs e' or z, and no event of the core.
//! * *No trace is cheaper than its core*, where leaving a thread after its last event of the core is free, unless what it
//!   does next cannot wait and has to come after the rest of the core. Take a linearisation of the trace, and leave out what
//!   is not in the core. Where a thread is left that can go on, with events of the core to come, there it can go on in the
//!   whole linearisation: what would keep it from that conflicts with its next event, and is in the core.
//!
//! A child costs what its core does. A child that costs more than the present bound waits until that is done with; no trace is
//! run twice for that. An execution that was run and costs more than the greatest bound counts as pruned.
//!
//! So what is covered once a bound is done with is exactly what can be had within it:
//!
//! * *Nothing within it is missing.* On the way from the first execution down to a trace, each child has its core in that
//!   trace, and costs no more. So none of them is still waiting.
//! * *Nothing beyond the greatest bound is counted.* A trace counts if it was run within that bound, or if its cheapest
//!   linearisation is ([`least`]). The events that have run by then tell whether a thread could go on where a linearisation
//!   leaves it: by the holders of locks, the threads that have ended, and the number of times that a semaphore was raised.
//!   Before a spin loop no thread is left that could go on: it waits for others to write what it has read. A semaphore's first
//!   value that may not have shown leaves two costs, with what is not known free and not. If the bound lies between them, the
//!   linearisation that is cheap if it is free is run: either it is within the bound, and counts, or it shows more of the first
//!   value than was known, and the next one is looked for.
//!
//! The first argument needs that e' can run although something else has run that it conflicts with, as long as that
//! commutes with what was put before e'. Writers kept out by several readers cannot, nor spin loops over several variables; and
//! when time can run out depends on others in ways of its own. Where an execution shows one of these *unsupported* operations, run
//! or about to be, nothing is left out from then on, and what was left out has its turn after all: the search is that for all
//! traces, of which it counts those within the bound, and covers that once it is done with all. Beyond [`KEPT`] events
//! what is left out is not remembered; then the search begins anew, which repeats traces.
//!
//! * *If none of what is run shows an unsupported operation, nothing within the bound has one.* Let the program P' be P, but that
//!   a thread waits for ever before an operation that no execution has shown and that is unsupported, or makes a spin loop so
//!   ([`UnsupportedOperations`]). To P' both arguments apply. What was run of P are executions of P' as well, with the same
//!   children; so all traces of P' within the bound were run. If now an execution of P within the bound had such an
//!   operation, then so had one of P': the same until the first one is pending, and from there on without preemptions;
//!   leaving the thread that waits for ever is none. It would have been run, and would have shown the operation.
//!
//! The behaviour of a thread that waits for signals, or spins on several variables, depends on more than its own events: some
//! orders that look like linearisations cannot be run. Such a trace counts if it was run within the bound, and does not if all
//! these orders cost more; else that cannot be told, and nothing is said to be covered. So it is where a trace of many threads
//! has too many linearisations to look at ([`FinalSwitch`]); of a core, what is known by then will do.

mod min_preemptions;
pub(super) mod unsupported;

use std::sync::RwLock;

use rustc_hash::FxHashMap;

use self::min_preemptions::{FinalSwitch, MinPreemptions, UnknownSemaphore, min_preemptions};
use self::unsupported::UnsupportedOperations;
use super::canonical::{CanonicalSchedule, Cut};
use super::frame::{Child, Frame, Origin};
use super::outcome_table::{KnownOutcomes, OutcomeTable};
use crate::event::position::Position;
use crate::limit::Limit;
use crate::strategy::dpor::planned::{EnumerationCoverage, ReplayPrefix};
use crate::strategy::dpor::races::Races;
use crate::trace::Trace;

/// Of the branches that lead to too many preemptions, executions of this many events together are kept.
const KEPT: usize = 1 << 20;

/// A bound on preemptions, and what it has left out so far.
#[derive(Debug)]
pub(super) struct PreemptionBound {
    pub(super) max: u32,
    /// All with fewer has been run.
    pub(super) now: u32,
    /// The branches that can lead to so many preemptions and no fewer.
    deferred: Vec<Vec<Frame>>,
    /// The branches that can only lead to more than `max`, as long as the argument holds.
    left_out: Vec<Frame>,
    /// The number of further events that can be kept of that.
    room: usize,
    /// More was left out than is kept.
    forgot: bool,
    /// Something that ran has more than `max`.
    bound_exceeded: bool,
    shown: UnsupportedOperations,
    /// Nothing is left out any more.
    unsupported: bool,
    restarts: bool,
    /// Of something that ran it cannot be told whether it has more than `max`.
    undecided: bool,
    /// A class that has not been counted as its cost depends on what is not known; run in this order it shows that.
    pub(super) unsure: Option<ReplayPrefix>,
}

impl PreemptionBound {
    pub(super) fn new(max: u32) -> Self {
        Self {
            max,
            now: 0,
            deferred: Vec::new(),
            left_out: Vec::new(),
            room: KEPT,
            forgot: false,
            bound_exceeded: false,
            shown: UnsupportedOperations::default(),
            unsupported: false,
            restarts: false,
            undecided: false,
            unsure: None,
        }
    }

    /// One that keeps nothing of what it leaves out.
    #[cfg(test)]
    pub(super) fn forgetful(max: u32) -> Self {
        Self { room: 0, ..Self::new(max) }
    }

    pub(super) fn anew(&self) -> Self {
        Self::new(self.max)
    }

    /// Whether something has been left out that should not have been, and is not known any more.
    pub(super) fn begins_anew(&mut self) -> bool {
        let restarts = std::mem::take(&mut self.restarts);
        if restarts {
            *self = Self { unsupported: true, ..self.anew() };
        }
        restarts
    }

    /// The branch that comes next once nothing is left of the present bound.
    pub(super) fn next_frames(&mut self) -> Option<Vec<Frame>> {
        while (self.now as usize) + 1 < self.deferred.len() {
            self.now += 1;
            let frames = std::mem::take(&mut self.deferred[self.now as usize]);
            if !frames.is_empty() {
                return Some(frames);
            }
        }
        let frames = if self.unsupported { std::mem::take(&mut self.left_out) } else { Vec::new() };
        (!frames.is_empty()).then_some(frames)
    }

    /// Puts children off that cost more than the present bound.
    pub(super) fn take(&mut self, frame: &mut Frame, shown: &UnsupportedOperations) {
        self.shown.take_in(shown);
        if !self.unsupported && self.shown.any() {
            self.unsupported = true;
            self.restarts = self.forgot;
        }
        if self.unsupported {
            return;
        }
        for cost in self.now + 1..=self.max {
            if let Some(deferred) = split(frame, |child| child.cost == cost) {
                self.deferred.resize_with(self.deferred.len().max(cost as usize + 1), Vec::new);
                self.deferred[cost as usize].push(deferred);
            }
        }
        if let Some(left_out) = split(frame, |child| child.cost > self.max) {
            self.leave_out(left_out);
        }
    }

    fn leave_out(&mut self, frame: Frame) {
        match self.room.checked_sub(frame.steps.len()) {
            Some(room) if !self.forgot => {
                self.room = room;
                self.left_out.push(frame);
            }
            _ => {
                self.forgot = true;
                self.left_out = Vec::new();
            }
        }
    }

    /// Whether a trace counts. If it cannot be told yet, it does not, and [`PreemptionBound::unsure`] is to be run.
    pub(super) fn is_within(&mut self, run: &Trace, known: &RwLock<OutcomeTable>) -> bool {
        if run.preemptions() <= self.max {
            return true;
        }
        let races = Races::new(run);
        let shown = OutcomeTable::of(&races);
        let outcomes = KnownOutcomes::new(known, &shown);
        let canonical = CanonicalSchedule::new(&races, &outcomes, Position::BEHIND_ALL, false, true);
        let min_preemptions = |unknown| {
            min_preemptions(&canonical, &canonical.whole(), (FinalSwitch::Costs, unknown), self.max)
        };
        let order = match min_preemptions(UnknownSemaphore::IsFree) {
            MinPreemptions::Exactly(_, order) if !unsupported::has_false_orders(run) => order,
            MinPreemptions::AboveLimit => {
                self.bound_exceeded = true;
                return false;
            }
            _ => {
                self.undecided = true;
                return false;
            }
        };
        match min_preemptions(UnknownSemaphore::Costs) {
            MinPreemptions::Exactly(..) => return true,
            MinPreemptions::AboveLimit => {
                self.unsure = Some(order.into_iter().map(|at| run.steps[at].replayed()).collect());
            }
            MinPreemptions::AtLeast(_) => self.undecided = true,
        }
        false
    }

    pub(super) fn lacks_costs(&self) -> bool {
        self.undecided
    }

    pub(super) fn is_done(&self) -> bool {
        let is_left = self.unsupported && !self.left_out.is_empty();
        !self.restarts && !is_left && self.unsure.is_none() && self.deferred.iter().all(Vec::is_empty)
    }

    pub(super) fn covers(&self, done: bool) -> EnumerationCoverage {
        let so_far = if self.unsupported { None } else { self.now.checked_sub(1) };
        let part = self.bound_exceeded || self.undecided || self.forgot || !self.left_out.is_empty();
        let preemptions = if done { Some(self.max) } else { so_far };
        EnumerationCoverage { preemptions: preemptions.filter(|_| !self.undecided), part }
    }
}

/// The children of an execution of which something is true, as a frame of their own.
fn split(frame: &mut Frame, is: impl Fn(&Child) -> bool) -> Option<Frame> {
    let children: Vec<_> = frame.children.extract_if(.., |child| is(child)).collect();
    let (steps, scheduled) = (&frame.steps, &frame.scheduled);
    (!children.is_empty()).then(|| Frame { steps: steps.clone(), scheduled: scheduled.clone(), children })
}

/// Says of each child the least cost of anything that it leads to; `max + 1` where that is greater than `max`.
pub(super) fn set_costs(
    canonical: &CanonicalSchedule<'_, '_>,
    (origin, limit): (&Origin, &Limit),
    children: &mut [Child],
    max: u32,
) {
    let mut known: FxHashMap<Cut, u32> = FxHashMap::default();
    for child in children {
        if limit.is_over() {
            return;
        }
        let scheduled = Position::START.until(child.at).filter(|&at| origin.scheduled[at]);
        let kept = scheduled.chain(child.keep.last());
        let core = canonical.closed(kept);
        let cost = |core: &Cut| match min_preemptions(
            canonical,
            core,
            (FinalSwitch::IsFree, UnknownSemaphore::IsFree),
            max,
        ) {
            MinPreemptions::Exactly(cost, _) | MinPreemptions::AtLeast(cost) => cost,
            MinPreemptions::AboveLimit => max + 1,
        };
        child.cost = match known.get(&core) {
            Some(&cost) => cost,
            None => *known.entry(core.clone()).or_insert_with(|| cost(&core)),
        };
    }
}
