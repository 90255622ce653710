//! The acquisitions of an execution that are made with other locks in hand.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::event::lock_action::{Hold, LockAction};
use crate::event::names::{Obj, Site, ThreadName};
use crate::event::operation::Mode;
use crate::event::position::Position;
use crate::event::recorded::TraceEvent;
use crate::trace::Trace;

/// An event that takes a lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Acquisition {
    /// The lock.
    pub lock: Obj,
    /// It is taken for reading: others can have it as well.
    pub shared: bool,
    /// The event.
    pub at: Position,
    /// Its place in the code.
    pub site: Site,
}

impl Acquisition {
    /// Whether two threads cannot have both at once.
    pub(super) fn excludes(&self, other: &Self) -> bool {
        self.lock.overlaps(&other.lock) && !(self.shared && other.shared)
    }
}

/// The locks of each thread between two events.
#[derive(Default)]
struct Holds(FxHashMap<ThreadName, SmallVec<[Acquisition; 4]>>);

/// Calls `see` for each acquisition that waits for as long as it takes, by a thread that has other locks: with those.
///
/// Left out are semaphores and once-initialisations: a unit belongs to no thread, and an initialiser runs once.
pub(super) fn nested(trace: &Trace, mut see: impl FnMut(ThreadName, &[Acquisition], Acquisition)) {
    let mut holds = Holds::default();
    for (at, step) in trace.steps.enumerate() {
        let event = &step.event;
        let Some(action) = event.op.kind.lock_action() else { continue };
        let thread = event.id.thread;
        match action {
            LockAction::Acquire(hold) | LockAction::TryAcquire(hold) => {
                let Some(lock) = changed(event).next().filter(|_| is_of_lock(hold)) else { continue };
                let taken = Acquisition { lock, shared: hold == Hold::Shared, at, site: event.site };
                let own = holds.0.entry(thread).or_default();
                let waits = matches!(action, LockAction::Acquire(_)) && event.op.limit.is_none();
                let has_it = || own.iter().any(|held| held.lock.overlaps(&lock));
                if waits && !own.is_empty() && !has_it() {
                    see(thread, own, taken);
                }
                own.push(taken);
            }
            LockAction::Release(hold) if is_of_lock(hold) => {
                changed(event).for_each(|lock| holds.release(thread, lock));
            }
            LockAction::Release(_) => {}
            LockAction::Reset => changed(event).for_each(|lock| holds.forget(lock)),
        }
    }
}

impl Holds {
    /// A thread gives back a lock; where it has not taken it, the lock is another thread's.
    fn release(&mut self, thread: ThreadName, lock: Obj) {
        let of_lock = |held: &Acquisition| held.lock.overlaps(&lock);
        let own = self.0.entry(thread).or_default();
        match own.iter().rposition(of_lock) {
            Some(nth) => drop(own.remove(nth)),
            None => self.forget(lock),
        }
    }

    fn forget(&mut self, lock: Obj) {
        self.0.values_mut().for_each(|own| own.retain(|held| !held.lock.overlaps(&lock)));
    }
}

const fn is_of_lock(hold: Hold) -> bool {
    matches!(hold, Hold::Exclusive | Hold::Shared)
}

/// The objects that an event changes; none, where it was a failed attempt.
fn changed(event: &TraceEvent) -> impl Iterator<Item = Obj> + '_ {
    let changes = event.did.accesses.iter().filter(|access| access.mode != Mode::Read);
    changes.map(|access| access.obj)
}
