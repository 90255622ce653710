//! The record of an execution.

pub mod cost;
pub(crate) mod interner;
mod moment;
pub(crate) mod queries;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;
use std::sync::Arc;

pub use self::moment::{Moment, Previous, Reason};
use crate::event::agent::{Agent, AgentView, Choice};
use crate::event::divergence::{Difference, Observation};
use crate::event::names::{Obj, ThreadName};
use crate::event::operation::OpKind;
use crate::event::position::{PerEvent, Position};
use crate::event::recorded::TraceEvent;
use crate::event::step::OpKey;
use crate::event::timing::Stall;
use crate::hb::HappensBefore;

/// The events of one execution, in order, with what could have been chosen before each.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// One for each event.
    pub steps: PerEvent<TraceStep>,
    /// The happens-before relation of the events.
    pub hb: HappensBefore,
    /// Every thread, in creation order.
    pub threads: Vec<ThreadName>,
    /// Operations that were pending and did not run.
    pub pending_at_end: Vec<PendingAtEnd>,
    /// Locations that a thread has waited for in a spin loop.
    pub spun_on: Vec<Obj>,
}

/// An operation that was pending and did not run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PendingAtEnd {
    /// The number of events after which it was pending last.
    pub at: Position,
    /// The agent, with the operation.
    pub view: AgentView,
    /// The next event took its chance away. Else the execution ended.
    pub closed: bool,
    /// The event that woke its thread for it.
    pub waker: Option<Position>,
}

/// One event, and the point before it. Executions have up to millions of them and few that differ in more than their
/// numbers, so what is alike is kept once: the [`Moment`] here, and what the event did in [`TraceEvent`].
#[derive(Clone, Debug)]
pub struct TraceStep {
    /// The event that ran.
    pub event: TraceEvent,
    moment: Arc<Moment>,
    /// Preemptions so far, this choice included.
    pub preemptions: u32,
    /// Delays so far, this choice included.
    pub delays: u32,
    /// It woke a thread from a condition variable or a futex.
    pub woke: bool,
}

impl Deref for TraceStep {
    type Target = Moment;

    fn deref(&self) -> &Moment {
        &self.moment
    }
}

impl Trace {
    pub(crate) fn clear(&mut self) {
        self.steps.clear();
        self.hb.clear();
        self.threads.clear();
        self.pending_at_end.clear();
        self.spun_on.clear();
    }

    /// The event at which a thread is stalled longest, and that stall; `None` where none is stalled.
    #[must_use]
    pub fn stall(&self) -> Option<(&TraceStep, Stall)> {
        let stalls = self.steps.iter().filter_map(|step| Some((step, step.event.timing()?.stall?)));
        stalls.max_by_key(|(_, stall)| stall.nanos)
    }

    /// Forgets the events from a position on. What is left can be replayed and read step by step; happens-before is still
    /// that of the whole.
    pub(crate) fn cut(&mut self, at: Position) {
        self.steps.truncate(at);
        self.pending_at_end.retain(|pending_at_end| pending_at_end.at < at);
        let is_born = |thread: &usize| self.hb.born(*thread).is_none_or(|born| born < at);
        let born = (0..self.threads.len()).take_while(is_born).count();
        self.threads.truncate(born);
    }

    /// The choices that there were before the event at a position.
    #[must_use]
    pub fn choices(&self, position: Position) -> &[Choice] {
        &self.steps[position].choices
    }

    /// Whether a thread had to let others go although it could have gone on: what comes of its going on is left out.
    #[must_use]
    pub fn holds_back(&self) -> bool {
        let is_held = |step: &TraceStep| match step.last {
            Previous::Yielding(name) => step.choices.iter().all(|choice| choice.agent != Agent::Thread(name)),
            Previous::Nobody | Previous::Runnable(_) | Previous::Free(_) => false,
        };
        self.steps.iter().any(is_held)
    }

    /// The choices made, each with the operation that it ran: what a replay needs.
    #[must_use]
    pub fn schedule(&self) -> Vec<(Choice, OpKey)> {
        self.steps.iter().map(TraceStep::replayed).collect()
    }

    /// The number of preemptions of the schedule.
    #[must_use]
    pub fn preemptions(&self) -> u32 {
        self.steps.last().map_or(0, |step| step.preemptions)
    }

    /// The number of delays of the schedule.
    #[must_use]
    pub fn delays(&self) -> u32 {
        self.steps.last().map_or(0, |step| step.delays)
    }

    /// The first event that is not the same in both.
    #[must_use]
    pub fn first_difference(&self, other: &Self) -> Option<Difference> {
        let longest = self.steps.end().max(other.steps.end());
        let at =
            Position::START.until(longest).find(|&at| match (self.steps.at(at), other.steps.at(at)) {
                (Some(a), Some(b)) => a.choice != b.choice || a.event != b.event,
                _ => true,
            })?;
        let seen = |trace: &Self| trace.steps.at(at).map_or(Observation::End, TraceStep::seen);
        Some(Difference { at, expected: seen(self), got: seen(other) })
    }
}

/// Whether it is a key point from the first execution on. Accesses of memory are none, nor are what a lock is made of, the
/// freeing of memory that others come to be seen to use, and the end of a time slice, which counts such events: with more known
/// about the program these are other events.
fn is_always_known(step: &&TraceStep) -> bool {
    use OpKind::{Free, FutexResume, FutexWait, FutexWake, SliceEnd};
    let kind = step.event.op.kind;
    !kind.is_access() && !matches!(kind, FutexWait | FutexResume | FutexWake | Free | SliceEnd)
}

/// The same, also if what it touches has come to be known as shared: a system call is a key point from then on.
fn is_same_whatever_is_known(step: &TraceStep) -> bool {
    is_always_known(&step) && step.event.op.kind != OpKind::Io
}

/// The first synchronisation of an execution that does not come in a later one with more key points, before anything does that
/// only the later one has: it may let another thread go, and from there on they are two schedules. So they are where another
/// thread goes, since the next thread may depend on what the others are about to do, and that are other operations now. And
/// where another thread has come less far than before, since it stands at one of these.
pub(crate) fn first_other_synchronisation(steps: &[TraceStep], later: &[TraceStep]) -> Option<Difference> {
    let same =
        steps.iter().zip(later).take_while(|(step, other)| step.replayed() == other.replayed()).count();
    let expected = steps.get(same)?;
    let rest = later.get(same..).unwrap_or_default();
    let is_other = is_always_known(&expected)
        && rest.first().is_none_or(|got| got.choice.agent == expected.choice.agent)
        && next_of_each(rest).all(is_same_whatever_is_known);
    let got = rest.first().map_or(Observation::End, TraceStep::seen);
    is_other.then(|| Difference { at: Position::after(same), expected: expected.seen(), got })
}

/// The first of these events of each thread.
fn next_of_each(steps: &[TraceStep]) -> impl Iterator<Item = &TraceStep> {
    let mut seen = BTreeSet::new();
    steps.iter().filter(move |step| seen.insert(step.event.id.thread))
}

/// The first synchronisation of an execution that its thread should have run in a later one with more key points as well, and
/// did not. An event that only the later one has may be a key point only there, and is no difference; and it lets other threads
/// go in between, so that threads are compared one by one.
pub(crate) fn first_missing_synchronisation(steps: &[TraceStep], later: &[TraceStep]) -> Option<Difference> {
    let mut compared_to: BTreeMap<ThreadName, usize> = BTreeMap::new();
    let (at, missing) =
        steps.iter().enumerate().filter(|(_, step)| is_always_known(step)).find(|(_, step)| {
            let from = compared_to.entry(step.event.id.thread).or_default();
            let same = later[*from..].iter().position(|other| other.replayed() == step.replayed());
            *from += same.map_or(0, |same| same + 1);
            same.is_none()
        })?;
    Some(Difference { at: Position::after(at), expected: missing.seen(), got: Observation::NoSuchEvent })
}

impl TraceStep {
    /// The same with another event.
    pub(crate) fn with_event(&self, event: TraceEvent) -> Self {
        Self { event, ..self.clone() }
    }

    pub(crate) fn new(
        event: TraceEvent,
        moment: Arc<Moment>,
        (preemptions, delays): (u32, u32),
        woke: bool,
    ) -> Self {
        Self { event, moment, preemptions, delays, woke }
    }

    /// The choice with the operation that it ran.
    #[must_use]
    pub fn replayed(&self) -> (Choice, OpKey) {
        (self.choice, OpKey { kind: self.event.op.kind, site: self.event.site })
    }

    /// Whether the event is of the thread's own doing.
    #[must_use]
    pub fn is_own(&self) -> bool {
        matches!(self.choice.agent, Agent::Thread(_))
    }

    /// The event as an observation, to be compared with another one.
    #[must_use]
    pub fn seen(&self) -> Observation {
        let (_, key) = self.replayed();
        Observation::Operation { thread: self.event.id.thread, key, effect: self.event.did.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::{EventId, Site};
    use crate::operation::Op;
    use crate::program::{Event, OpOutcome};

    const OTHER: usize = 1;

    /// The steps of two threads that run operations of these kinds, each from a place of its own.
    fn steps(kinds: &[(usize, OpKind)]) -> Vec<TraceStep> {
        let threads = [ThreadName::MAIN, ThreadName::MAIN.child(1).unwrap()];
        let events = (1..).zip(kinds).map(|(index, &(thread, kind))| {
            let choice = Choice::thread(threads[thread]);
            let moment =
                Moment { choice, reason: Reason::First, last: Previous::Nobody, choices: [choice].into() };
            let op = Op::new(kind, []);
            let event = Event {
                id: EventId { thread: threads[thread], index },
                did: op.may.clone(),
                op,
                outcome: OpOutcome::Only,
                site: Site(kind as u64),
                woken_by: None,
                timing: None,
            };
            TraceStep::new(TraceEvent::from(event), moment.into(), (0, 0), false)
        });
        events.collect()
    }

    #[test]
    fn an_execution_with_more_key_points_is_another_one_only_where_what_is_always_known_differs() {
        use OpKind::{Free, Init, Io, Lock, Read, SliceEnd, Unlock};
        let first = steps(&[(0, Lock), (0, Unlock), (0, Init)]);
        let position = |difference: Option<Difference>| difference.map(|difference| difference.at);
        for new in [Free, Io, Read, SliceEnd] {
            let later = steps(&[(0, Lock), (0, Unlock), (0, new), (0, Init)]);
            assert_eq!(first_other_synchronisation(&first, &later), None, "{new:?}");
            assert_eq!(first_missing_synchronisation(&first, &later), None, "{new:?}");
            let later = steps(&[(0, Lock), (0, Unlock), (0, Lock), (OTHER, new)]);
            assert_eq!(first_other_synchronisation(&first, &later), None, "{new:?}: it has come less far");
        }
        let later = steps(&[(0, Lock), (0, Unlock), (0, Lock), (OTHER, Lock)]);
        assert_eq!(position(first_other_synchronisation(&first, &later)), Some(Position::after(2)));
        assert_eq!(position(first_missing_synchronisation(&first, &later)), Some(Position::after(2)));
    }
}
