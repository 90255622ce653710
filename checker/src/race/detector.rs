//! The detector: happens-before by synchronisation alone, and the plain accesses that it leaves unordered.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::event::names::{Obj, ObjName, Site};
use crate::event::operation::{Access, Atomicity, Effect, Mode, Op, OpKind};
use crate::event::position::Position;
use crate::event::ranges::byte_set::ByteSet;
use crate::event::ranges::interval_map::IntervalMap;
use crate::event::recorded::TraceEvent;
use crate::hb::HappensBefore;
use crate::trace::Trace;

/// A kind of access at a place in the code.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct AccessSite {
    /// The place.
    pub site: Site,
    /// It writes.
    pub writes: bool,
}

/// Two accesses that race, in the order in which they ran.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Race {
    /// Positions of the two events in the trace.
    pub events: [Position; 2],
    /// The kind and the place of each of them.
    pub places: [AccessSite; 2],
    /// Something that both touch.
    pub obj: Obj,
    /// The thread of the second one waited before it while the first one ran: whatever is not seen of it, it has done before.
    pub side_by_side: bool,
}

/// Finds races. Keeps the synchronisation variables of all executions that it was shown.
#[derive(Clone, Debug, Default)]
pub struct Detector {
    variables: ByteSet,
    order: HappensBefore,
    plain: FxHashMap<ObjName, IntervalMap<SmallVec<[LastAccess; 4]>>>,
}

impl Detector {
    /// Takes in the synchronisation variables of an execution. `true` if there are new ones: what was a race by then may be
    /// none.
    pub fn learn(&mut self, trace: &Trace) -> bool {
        learn(&mut self.variables, trace)
    }

    /// The synchronisation variables so far.
    #[must_use]
    pub fn variables(&self) -> &ByteSet {
        &self.variables
    }

    /// The races of an execution: of each pair of places, each way round, the first one, or else the first one whose accesses
    /// stand side by side. Between equal places the two ways are those of the threads.
    pub fn races(&mut self, trace: &Trace) -> Vec<Race> {
        self.order.clear();
        self.plain.clear();
        for (thread, name) in trace.threads.iter().enumerate() {
            self.order.add_thread(*name, trace.hb.born(thread));
        }
        let locate = |name| trace.threads.iter().position(|known| *known == name);
        let mut found: Vec<Race> = Vec::new();
        // Of each thread, its last event, or its creation.
        let mut last: Vec<Option<Position>> =
            (0..trace.threads.len()).map(|thread| trace.hb.born(thread)).collect();
        let mut known: FxHashMap<([AccessSite; 2], bool), usize> = FxHashMap::default();
        for (at, step) in trace.steps.enumerate() {
            let event = &step.event;
            let Some(thread) = locate(event.id.thread) else { continue };
            let (order, plain) = divide(event, &self.variables);
            let before = last[thread].replace(at);
            self.order.push_with(thread, event, &order, locate);
            for access in plain {
                self.touch(thread, at, event, access, &mut |race, forth| {
                    let side_by_side = before.is_none_or(|before| before < race.events[0]);
                    let race = Race { side_by_side, ..race };
                    let nth = *known.entry((race.places, forth)).or_insert(found.len());
                    match found.get_mut(nth) {
                        Some(first) if side_by_side && !first.side_by_side => *first = race,
                        Some(_) => {}
                        None => found.push(race),
                    }
                });
            }
        }
        found
    }

    /// A plain access: compares it with those of other threads, byte by byte, and keeps it.
    fn touch(
        &mut self,
        thread: usize,
        at: Position,
        event: &TraceEvent,
        access: Access,
        race: &mut impl FnMut(Race, bool),
    ) {
        let clock = self.order.clock(at);
        let place = AccessSite { site: event.site, writes: access.mode == Mode::Write };
        let new = LastAccess { place, thread: thread as u32, count: clock.get(thread), event: at };
        for bytes in self.variables.outside(access.obj) {
            self.plain.entry(access.obj.name).or_default().update(bytes, |cell, touches| {
                for old in touches.iter().filter(|old| old.thread != new.thread) {
                    if (old.place.writes || place.writes) && clock.get(old.thread as usize) < old.count {
                        let places = [old.place, place];
                        let (offset, len) = (cell.start as u32, (cell.end - cell.start) as u32);
                        let obj = Obj { offset, len, ..access.obj };
                        let events = [old.event, new.event];
                        let found = Race { events, places, obj, side_by_side: false };
                        race(found, old.place != place || old.thread < new.thread);
                    }
                }
                match touches.iter_mut().find(|old| old.thread == new.thread && old.place == place) {
                    Some(old) => *old = new,
                    None => touches.push(new),
                }
            });
        }
    }
}

/// Takes the synchronisation variables of an execution into those that are known. `true` if there are new ones.
pub(crate) fn learn(variables: &mut ByteSet, trace: &Trace) -> bool {
    let events = trace.steps.iter().map(|step| &step.event).filter(|event| synchronises(event));
    let touched = events.flat_map(|event| event.did.accesses.iter().map(|access| access.obj));
    let mut new = false;
    for obj in touched.chain(trace.spun_on.iter().copied()) {
        new |= variables.insert(obj);
    }
    new
}

/// The part of an event's effect that synchronises.
pub(crate) fn ordering(event: &TraceEvent, variables: &ByteSet) -> Effect {
    divide(event, variables).0
}

/// The synchronising part of an event, and its plain accesses.
fn divide(event: &TraceEvent, variables: &ByteSet) -> (Effect, SmallVec<[Access; 2]>) {
    // The use of a block after it was freed is a failure, which says more than a race.
    if event.op.kind == OpKind::Free {
        return Default::default();
    }
    let Effect { accesses, ends_process } = event.did.clone();
    let (order, plain) = accesses
        .into_iter()
        .partition(|access| synchronises(event) || variables.outside(access.obj).is_empty());
    (Effect { accesses: order, ends_process }, plain)
}

/// Whether an operation is a load or store, and touches anything but synchronisation variables.
pub(crate) fn is_plain(op: &Op, variables: &ByteSet) -> bool {
    op.kind.is_load_or_store()
        && op.atomicity != Atomicity::Atomic
        && op.may.accesses.iter().any(|access| !variables.outside(access.obj).is_empty())
}

/// The last access of a thread from a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LastAccess {
    place: AccessSite,
    thread: u32,
    /// The number of events of its thread by then, itself included.
    count: u32,
    event: Position,
}

/// Whether all that an event touches is a synchronisation variable thereby.
pub(super) fn synchronises(event: &TraceEvent) -> bool {
    event.op.kind.synchronises() || event.op.atomicity == Atomicity::Atomic
}
