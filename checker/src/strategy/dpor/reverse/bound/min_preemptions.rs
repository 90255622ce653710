//! The least number of preemptions of any linearisation of a trace, or of some first part of it.
//!
//! A place is the number of events that each thread has run, and the thread that ran last: there are as many as the trace has
//! cuts, times the number of threads; the number of cuts grows exponentially with that of threads. They are visited in the
//! order of their cost, up to some number of them ([`Ends::places`]).
//!
//! A thread that has run last goes on if what it does next lets no thread go ([`OpKind::may_let_go`]). Take a linearisation
//! that leaves the thread there, which costs one. Put the event first instead: no thread can go on where it could not before,
//! so that no switch costs more, and the thread is left one event later for one or nothing. With its last event a thread lets
//! those go that join it; if that is one at most, leaving the thread after that event is free, for what leaving the other one
//! may cost. Where time runs out this is not so: that lets a thread go which ran last, so that an event in between saves a
//! switch.

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::smallvec;

use crate::event::agent::Agent;
use crate::event::operation::OpKind;
use crate::event::position::Position;
use crate::strategy::dpor::locks::EnablingCondition;
use crate::strategy::dpor::reverse::canonical::{AgentState, CanonicalSchedule, Cut};
use crate::strategy::dpor::reverse::outcome_table::reading;
use crate::trace::TraceStep;

/// The cost of leaving a thread once the events are over that are counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum FinalSwitch {
    /// As much as anywhere.
    Costs,
    /// Nothing, unless what it is about to do cannot wait and has to come after the rest: it may have more events, which end
    /// where it has to wait.
    IsFree,
}

impl FinalSwitch {
    /// The number of places that are looked at: of a whole trace it has to be known what it costs, of a part of one it saves
    /// time.
    const fn places(self) -> usize {
        match self {
            Self::Costs => 1 << 18,
            Self::IsFree => 1 << 13,
        }
    }
}

/// The position of an event, and the thread that ran last before it.
type LinearisationStep = Option<(Position, Option<usize>)>;

/// The events of each thread so far, and the thread that ran last.
type LinearisationState = (Cut, Option<usize>);

/// The cost of leaving a thread that waits for a semaphore of which it is not known whether it is above 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum UnknownSemaphore {
    /// Nothing.
    IsFree,
    /// As if it were.
    Costs,
}

/// The least cost, as far as it is known.
pub(super) enum MinPreemptions {
    /// It is that of a linearisation: the positions of its events.
    Exactly(u32, Vec<Position>),
    /// It is above the limit.
    AboveLimit,
    /// There are too many places; it is no less than this.
    AtLeast(u32),
}

/// The least cost of the events of `whole`, which are closed under happens-before, as far as it is at most `limit`.
pub(super) fn min_preemptions(
    canonical: &CanonicalSchedule<'_, '_>,
    whole: &Cut,
    (ends, unknown): (FinalSwitch, UnknownSemaphore),
    limit: u32,
) -> MinPreemptions {
    let ways = Ways::new(canonical, whole, ends, unknown);
    // The places, each with the event that led there, and the thread that ran last before it.
    let mut seen: FxHashMap<LinearisationState, LinearisationStep> = FxHashMap::default();
    let mut now: Vec<(LinearisationState, LinearisationStep)> =
        vec![((smallvec![0; whole.len()], None), None)];
    let mut room = ends.places();
    for cost in 0..=limit {
        let mut later = Vec::new();
        while let Some((place, step)) = now.pop() {
            if seen.contains_key(&place) {
                continue;
            }
            seen.insert(place.clone(), step);
            if place.0 == *whole {
                return MinPreemptions::Exactly(cost, way_to(canonical, &seen, place));
            }
            let leaving = ways.leaving_costs(&place);
            for (at, thread) in ways.on_from(&place) {
                let Some(left) = room.checked_sub(1) else { return MinPreemptions::AtLeast(cost) };
                room = left;
                let (mut cut, last) = place.clone();
                cut[canonical.races.threads[at]] += 1;
                let costs = leaving && thread.is_some() && last != thread;
                let next = ((cut, thread.or(last)), Some((at, last)));
                if costs { &mut later } else { &mut now }.push(next);
            }
        }
        now = later;
    }
    MinPreemptions::AboveLimit
}

/// The events on the way to a place.
fn way_to(
    canonical: &CanonicalSchedule<'_, '_>,
    seen: &FxHashMap<LinearisationState, LinearisationStep>,
    place: LinearisationState,
) -> Vec<Position> {
    let mut order = Vec::new();
    let (mut cut, mut last) = place;
    while let Some(&Some((at, before))) = seen.get(&(cut.clone(), last)) {
        order.push(at);
        cut[canonical.races.threads[at]] -= 1;
        last = before;
    }
    order.reverse();
    order
}

fn is_behind(cut: &Cut, other: &Cut) -> bool {
    cut.iter().zip(other).any(|(one, other)| one < other)
}

/// The ways from one place to the next ones.
struct Ways<'c, 'r, 't> {
    canonical: &'c CanonicalSchedule<'r, 't>,
    whole: &'c Cut,
    ends: FinalSwitch,
    unknown: UnknownSemaphore,
    /// See [`CanonicalSchedule::held_up`].
    held_up: Vec<Cut>,
    /// The number of threads that join each.
    joiners: Vec<usize>,
    /// No time runs out.
    is_timeless: bool,
}

impl<'c, 'r, 't> Ways<'c, 'r, 't> {
    fn new(
        canonical: &'c CanonicalSchedule<'r, 't>,
        whole: &'c Cut,
        ends: FinalSwitch,
        unknown: UnknownSemaphore,
    ) -> Self {
        let held_up = match ends {
            FinalSwitch::IsFree => (0..whole.len()).map(|thread| canonical.held_up(thread, whole)).collect(),
            FinalSwitch::Costs => Vec::new(),
        };
        let is_timeless = canonical.races.run.steps.iter().all(TraceStep::is_own);
        Self { canonical, whole, ends, unknown, held_up, joiners: canonical.joiners(), is_timeless }
    }

    fn leaving_costs(&self, (cut, last): &LinearisationState) -> bool {
        last.is_some_and(|last| match self.ends {
            FinalSwitch::IsFree if cut[last] == self.whole[last] => is_behind(cut, &self.held_up[last]),
            _ => self.canonical.can_go_on(last, cut, self.unknown),
        })
    }

    /// The positions of the events that can come next, each with the thread that has run last then, if that is another one.
    fn on_from(&self, (cut, last): &LinearisationState) -> Vec<(Position, Option<usize>)> {
        let steps = &self.canonical.races.run.steps;
        let next = |thread| self.canonical.next_in(thread, cut, self.whole);
        let way = |thread| next(thread).map(|at| (at, steps[at].is_own().then_some(thread)));
        let goes_on =
            last.filter(|_| self.is_timeless).and_then(way).filter(|&(at, _)| self.lets_nobody_go(at));
        goes_on.map_or_else(|| (0..cut.len()).filter_map(way).collect(), |way| vec![way])
    }

    fn lets_nobody_go(&self, at: Position) -> bool {
        let thread = self.canonical.races.threads[at];
        let is_last = self.canonical.of[thread].last() == Some(&at);
        !self.canonical.races.run.steps[at].event.op.kind.may_let_go(false)
            && (!is_last || self.joiners[thread] <= 1)
    }
}

impl CanonicalSchedule<'_, '_> {
    /// The number of threads that join each thread, or are about to.
    fn joiners(&self) -> Vec<usize> {
        let run = self.races.run;
        let pending = run.pending_at_end.iter().filter_map(|pending_at_end| {
            Some((pending_at_end.view.agent, pending_at_end.view.pending.as_ref()?))
        });
        let ops = run.steps.iter().map(|step| (step.choice.agent, &step.event.op)).chain(pending);
        let joins = ops.filter(|(_, op)| op.kind == OpKind::Join);
        let joins: FxHashSet<_> = joins.filter_map(|(agent, op)| Some((agent.thread(), op.peer?))).collect();
        run.threads.iter().map(|&name| joins.iter().filter(|&&(_, peer)| peer == name).count()).collect()
    }

    /// The position of a thread's next event, if it is among those of `whole` and all that happens before it has run.
    pub(super) fn next_in(&self, thread: usize, cut: &Cut, whole: &Cut) -> Option<Position> {
        if cut[thread] >= whole[thread] {
            return None;
        }
        let at = self.of[thread][cut[thread] as usize];
        self.has_past_of(at, thread, cut).then_some(at)
    }

    /// Whether leaving a thread is a preemption: it can go on, and does not give way. It is not known what a spin loop or a
    /// wait for signals waits for; there it can go on where the trace has it go on.
    pub(super) fn can_go_on(&self, thread: usize, cut: &Cut, unknown: UnknownSemaphore) -> bool {
        let name = self.races.run.threads[thread];
        let Some(op) = self.next_op(thread, cut).filter(|op| !op.kind.gives_way()) else { return false };
        match (EnablingCondition::of(op.kind), self.state(Agent::Thread(name), thread, cut)) {
            (EnablingCondition::Unknown, state) => matches!(state, AgentState::Here(_)),
            (EnablingCondition::One, AgentState::Waits) => {
                unknown == UnknownSemaphore::Costs && self.is_open(&op.may, cut)
            }
            (_, state) => state != AgentState::Waits,
        }
    }

    /// The extent of the others' events up to which a thread that has run all its events of `whole` can go on wherever these
    /// are run, and yet cannot come to where it has to wait: before, what it comes to would have to be in `whole` itself.
    fn held_up(&self, thread: usize, whole: &Cut) -> Cut {
        let mut until: Cut = smallvec![0; whole.len()];
        let mut cut = whole.clone();
        while let Some(op) = self.next_op(thread, &cut) {
            let sure = match op.kind {
                OpKind::Read | OpKind::Write | OpKind::Update => op.may.clone(),
                OpKind::CompareExchange | OpKind::TryLock => reading(&op.may),
                _ => break,
            };
            for other in (0..whole.len()).filter(|&other| other != thread) {
                let own = &self.of[other][..whole[other] as usize];
                let conflicts = |&at: &Position| self.races.run.steps[at].event.did.conflicts(&sure);
                let last = own.iter().rposition(conflicts).map_or(0, |slot| slot as u32 + 1);
                until[other] = until[other].max(last);
            }
            // The next operation of a thread is known where it has learnt nothing from others.
            if op.kind != OpKind::Write || cut[thread] as usize >= self.of[thread].len() {
                break;
            }
            cut[thread] += 1;
        }
        until
    }

    /// These events, and all that happens before them.
    pub(super) fn closed(&self, positions: impl Iterator<Item = Position>) -> Cut {
        let mut cut: Cut = smallvec![0; self.of.len()];
        for at in positions {
            let clock = self.races.run.hb.clock(at);
            (0..cut.len()).for_each(|thread| cut[thread] = cut[thread].max(clock.get(thread)));
        }
        cut
    }

    /// All events.
    pub(super) fn whole(&self) -> Cut {
        self.of.iter().map(|of| of.len() as u32).collect()
    }
}
