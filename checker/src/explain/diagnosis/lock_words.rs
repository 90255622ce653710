//! The holders of a lock of which trying, waiting and taking are events of their own, as read-write locks that prefer writers
//! have them: the operations on it are accesses of memory.
//!
//! A compare-and-swap that succeeds takes the lock, and an update gives it back. A writer that finds it held leaves word of
//! that by a compare-and-swap, too, and then waits at the same instruction; a reader waits there before it tries.

use rustc_hash::FxHashMap;

use super::lock_state::{Held, held_after};
use crate::event::names::{Obj, Site, ThreadName};
use crate::event::operation::{Access, Mode, OpKind};
use crate::event::position::Position;
use crate::trace::queries::touches;
use crate::trace::{Trace, TraceStep};

/// Whether what is done to a lock are accesses of memory.
pub(super) fn is_stepwise(trace: &Trace, lock: Obj) -> bool {
    trace.steps.iter().any(|step| step.event.op.kind.is_access() && touches(step, lock))
}

/// The last access of the lock by a thread.
#[derive(Clone, Copy)]
enum Last {
    /// It looked at it by an instruction of its own.
    Looked,
    /// It waited for it in a call here.
    Waited(Call),
    /// It tried to take it, and may have in the event at this position.
    Tried(Call, Option<Position>),
}

/// A call that takes the lock.
#[derive(Clone, Copy)]
struct Call {
    site: Site,
    reads: bool,
}

/// The holders of such a lock, the longest first; none, where something is done to it that no lock is known by.
pub(super) fn holders_of_word(trace: &Trace, lock: Obj) -> Vec<Held> {
    let mut holding = Holding::default();
    for (position, step) in trace.steps.enumerate().filter(|(_, step)| touches(step, lock)) {
        if holding.see(step, position, lock).is_none() {
            return Vec::new();
        }
    }
    for left in trace.pending_at_end.iter().filter(|left| !left.closed) {
        let op = left.view.pending.as_ref().filter(|op| op.kind == OpKind::Await);
        if op.is_some_and(|op| op.may.accesses.iter().any(|access| access.obj.overlaps(&lock))) {
            holding.waits(left.view.agent.thread(), left.view.site);
        }
    }
    holding.held
}

#[derive(Default)]
struct Holding {
    held: Vec<Held>,
    last: FxHashMap<ThreadName, Last>,
}

impl Holding {
    /// Takes in what is done to the lock; nothing, where that is not known of any.
    fn see(&mut self, step: &TraceStep, position: Position, lock: Obj) -> Option<()> {
        let (thread, site) = (step.event.id.thread, step.event.site);
        let changes = |access: &Access| access.obj.overlaps(&lock) && access.mode != Mode::Read;
        let has_changed = step.event.did.accesses.iter().any(changes);
        match step.event.op.kind {
            OpKind::Read => drop(self.last.insert(thread, Last::Looked)),
            OpKind::Await => self.waits(thread, site),
            OpKind::CompareExchange => {
                let call = Call { site, reads: self.reads(thread, site) };
                self.last.insert(thread, Last::Tried(call, has_changed.then_some(position)));
                if has_changed {
                    self.held.push(Held { thread, taken: position, reads: call.reads });
                }
            }
            OpKind::Update => {
                let own = self.held.iter().rposition(|held| held.thread == thread)?;
                self.held.remove(own);
                self.last.remove(&thread);
            }
            OpKind::Init | OpKind::Destroy => *self = Self::default(),
            OpKind::Timeout => drop(self.last.remove(&thread)),
            _ => return None,
        }
        Some(())
    }

    /// Whether an attempt to take the lock here is one to read.
    fn reads(&self, thread: ThreadName, site: Site) -> bool {
        match self.last.get(&thread) {
            Some(Last::Looked) => true,
            Some(Last::Waited(call) | Last::Tried(call, _)) => call.site == site && call.reads,
            None => false,
        }
    }

    /// A thread waits here. Its change just before in this call, if not to read, was to leave word of that.
    fn waits(&mut self, thread: ThreadName, site: Site) {
        let (reads, tried) = match self.last.get(&thread) {
            Some(Last::Tried(call, changed)) if call.site == site => (call.reads, *changed),
            _ => (true, None),
        };
        if !reads {
            self.held.retain(|held| Some(held.taken) != tried);
        }
        self.last.insert(thread, Last::Waited(Call { site, reads }));
    }
}

/// The holders of a lock, or of units of a semaphore, the longest first. A post by a thread that has taken nothing is one for
/// another thread.
pub(super) fn holders(trace: &Trace, lock: Obj) -> Vec<Held> {
    if is_stepwise(trace, lock) {
        return holders_of_word(trace, lock);
    }
    held_after(trace, trace.steps.end(), lock)
}
