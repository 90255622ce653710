//! Synchronisation that takes no part in scheduling: the locks and barriers of libraries in which no key point is, and accesses
//! that only the text of the source calls atomic.
//!
//! Two accesses that race by their execution's events may be ordered by such synchronisation. It need not be known when the
//! race is found: an execution of the same schedule in which the accesses of libraries are traced tells. The accesses are put
//! between the events as events of their own, and the words that an indivisible instruction touches are synchronisation
//! variables, whatever code it stands in.
//!
//! An instruction of x86 does not show whether a plain load or store of a library is one of an atomic (the word of its own at
//! which each thread of a queue lock waits is stored to and loaded, and nothing else). A library that is used as it should be
//! has no races: so whatever one thread loads that another one has stored there was either ordered already, or is what orders
//! the two. Plain accesses of libraries therefore order among themselves, and so do their stores and the program's loads, where
//! it looks at a library's word by a macro; the program's own accesses do not become synchronisation by that ([`published`]).
//! Orders that a library makes where it is used as it should not be are no loss: a race of the program has an execution in which
//! the two accesses stand side by side, the thread of the second one waiting before it while the first one runs. Nothing hidden
//! comes between them there, and [`super::Pairs`] keeps such executions before others.

use rustc_hash::{FxHashMap, FxHashSet};

use super::detector::{Detector, Race};
use super::neighbours::races;
use crate::account::HiddenAccess;
use crate::event::agent::OpOutcome;
use crate::event::names::{EventId, Obj, ObjName, Site, ThreadName};
use crate::event::operation::{Access, Atomicity, Mode, Op, OpKind};
use crate::event::position::{PerEvent, Position};
use crate::event::ranges::byte_set::ByteSet;
use crate::event::step::Event;
use crate::hb::AccessHistories;
use crate::trace::interner::Interner;
use crate::trace::{Trace, TraceStep};

/// The facts that were found out about an execution after it ran.
#[derive(Clone, Debug, Default)]
pub struct HiddenSynchronisation {
    /// [`crate::program::ExecutionSummary::hidden`].
    pub hidden: Option<Vec<HiddenAccess>>,
    /// The places of loads and stores that the source calls atomic.
    pub atomic: FxHashSet<Site>,
}

/// An execution with what was found out about it. `variables` are the synchronisation variables that are known.
pub(crate) fn with(trace: &Trace, hidden_sync: &HiddenSynchronisation, variables: &ByteSet) -> MergedTrace {
    let hidden = hidden_sync.hidden.as_deref().unwrap_or_default();
    let mut variables = variables.clone();
    hidden
        .iter()
        .filter(|hidden| hidden.indivisible)
        .for_each(|hidden| _ = variables.insert(hidden.access.obj));
    let is_variable = |obj: Obj| variables.outside(obj).is_empty();
    let plain = hidden.iter().map(|hidden| hidden.access).filter(|access| !is_variable(access.obj));
    let stored: ByteSet =
        plain.filter(|access| access.mode == Mode::Write).map(|access| access.obj).collect();
    let mut hidden = hidden.iter().peekable();
    let mut merged = TraceMerger::default();
    for (at, step) in trace.steps.enumerate() {
        while let Some(hidden) = hidden.next_if(|access| access.after <= at) {
            let mut hidden = *hidden;
            if !is_variable(hidden.access.obj) {
                if !stored.overlap(hidden.access.obj) {
                    continue;
                }
                hidden.access.obj = published(hidden.access.obj);
            }
            merged.push_hidden(&hidden, step);
        }
        merged.push(step, &hidden_sync.atomic, &stored);
    }
    let mut whole = Trace {
        steps: merged.steps,
        threads: trace.threads.clone(),
        spun_on: trace.spun_on.clone(),
        ..Trace::default()
    };
    for (thread, name) in trace.threads.iter().enumerate() {
        let born = trace.hb.born(thread).and_then(|born| merged.positions.at(born).copied());
        whole.hb.add_thread(*name, born);
    }
    MergedTrace { trace: whole, positions: merged.positions }
}

/// The object by which plain accesses of libraries to some memory publish something. It is another one than the memory itself, so
/// that the program's own accesses of that remain what they are.
fn published(obj: Obj) -> Obj {
    /// Any number will do: names are digests.
    const OTHER: u64 = 0x5bd1_e995_9e37_79b9;
    Obj { name: ObjName(obj.name.0 ^ OTHER), ..obj }
}

/// An execution with accesses between its events.
pub(crate) struct MergedTrace {
    trace: Trace,
    /// Of each event of the execution itself, its position in `trace`.
    positions: PerEvent<Position>,
}

impl MergedTrace {
    /// The races in it, by the positions that the events have in the execution itself.
    pub(super) fn races(&self, mut detector: Detector) -> Vec<Race> {
        detector.learn(&self.trace);
        let own = |at: Position| self.positions.binary_search(&at).ok().map(Position::after);
        let races = detector.races(&self.trace).into_iter();
        races
            .filter_map(|race| Some(Race { events: [own(race.events[0])?, own(race.events[1])?], ..race }))
            .collect()
    }
}

impl MergedTrace {
    /// The execution.
    pub(crate) fn trace(&self) -> &Trace {
        &self.trace
    }

    /// The position in it that an event of the execution itself has.
    pub(crate) fn position(&self, at: Position) -> Position {
        self.positions[at]
    }

    /// Whether two events of the execution conflict and can be neighbours still.
    pub(super) fn are_neighbours(mut self, events: [Position; 2]) -> bool {
        let [earlier, later] = events.map(|at| self.positions[at]);
        let Trace { steps, hb, threads, .. } = &mut self.trace;
        let locate = |name: ThreadName| threads.iter().position(|known| *known == name);
        let mut objects = AccessHistories::default();
        let mut of_later = None;
        for (at, step) in steps.between(Position::START, later.next()) {
            let Some(thread) = locate(step.event.id.thread) else { return true };
            hb.push(thread, &step.event, locate);
            if at == later {
                of_later = Some(thread);
            } else {
                objects.record(&step.event.did, thread as u32, at);
            }
        }
        of_later.is_some_and(|thread| races(&self.trace, (thread, later), &objects).contains(&earlier))
    }
}

/// The events of an execution with accesses between them.
#[derive(Default)]
struct TraceMerger {
    steps: PerEvent<TraceStep>,
    /// Of each event of the execution, its position among `steps`.
    positions: PerEvent<Position>,
    /// Of each event by its name there, its index here.
    indices: FxHashMap<EventId, u32>,
    /// The number of events of each thread.
    counts: FxHashMap<ThreadName, u32>,
    known: Interner,
}

impl TraceMerger {
    fn next_id(&mut self, thread: ThreadName) -> EventId {
        let count = self.counts.entry(thread).or_default();
        *count += 1;
        EventId { thread, index: *count - 1 }
    }

    /// `like`: a step of the execution, for what an access has not.
    fn push_hidden(
        &mut self,
        HiddenAccess { thread, access, indivisible, .. }: &HiddenAccess,
        like: &TraceStep,
    ) {
        let kind = match (indivisible, access.mode) {
            (true, _) => OpKind::Update,
            (false, Mode::Write) => OpKind::Write,
            (false, _) => OpKind::Read,
        };
        let op = Op { atomicity: Atomicity::Atomic, ..Op::new(kind, [*access]) };
        let id = self.next_id(*thread);
        let did = op.may.clone();
        let event = Event {
            id,
            op,
            did,
            outcome: OpOutcome::Only,
            site: Site::default(),
            woken_by: None,
            timing: None,
        };
        let event = self.known.event(event);
        self.steps.push(like.with_event(event));
    }

    /// `stored`: what libraries store by plain instructions.
    fn push(&mut self, step: &TraceStep, atomic: &FxHashSet<Site>, stored: &ByteSet) {
        let old = &step.event;
        let id = self.next_id(old.id.thread);
        self.indices.insert(old.id, id.index);
        let woken_by = old.woken_by().map(|by| {
            let index = self.indices.get(&by).copied().unwrap_or(by.index);
            EventId { index, ..by }
        });
        let mut op = old.op.clone();
        if op.kind.is_load_or_store() && atomic.contains(&old.site) {
            op.atomicity = Atomicity::Atomic;
        }
        let (outcome, site) = (old.outcome, old.site);
        let mut did = old.did.clone();
        let loads = |access: &&Access| access.mode == Mode::Read && stored.overlap(access.obj);
        let looks = old.did.accesses.iter().filter(|_| op.kind == OpKind::Read).filter(loads);
        did.accesses.extend(looks.map(|access| Access::read(published(access.obj))));
        let event = Event { id, op, did, outcome, site, woken_by, timing: None };
        self.positions.push(self.steps.end());
        let event = self.known.event(event);
        self.steps.push(step.with_event(event));
    }
}
