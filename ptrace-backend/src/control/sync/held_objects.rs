//! Accesses of the program's own code to the memory of synchronisation objects that are in use: a lock that is overwritten while a thread
//! holds it, a condition variable that is compared while a thread waits for it. The model of the object does not follow what is written,
//! and does not write what the C library would. Nor does it tell apart the addresses of an object in memory that is mapped several times.

use std::ops::Range;

use checker::account::{Unwatched, UnwatchedKind};
use checker::names::Obj;
use rustc_hash::FxHashMap;

use crate::control::memory::sharing::TouchKind;
use crate::control::state::account::Account;
use crate::control::state::memory::MemoryState;
use crate::control::state::sync_objects::{Futex, Objects};
use crate::control::state::thread_index::ThreadIndex;
use crate::control::sync::futexes;
use crate::control::tracee::Tracee;
use crate::control::tracee::machine::accesses_of;
use crate::instructions::MemoryAccess;
use crate::layout::functions::TrappedFunction;

/// The first word of an object, which all of them have.
const WORD: u64 = 4;

/// A thread calls a function on a synchronisation object: accesses of the program's own code to its first words are key points from now
/// on.
pub(crate) fn note_use(memory: &mut MemoryState, index: ThreadIndex, function: TrappedFunction, object: u64) {
    /// A mutex has its state, a counter and its owner there.
    const LOOKED_AT: u64 = 16;
    /// Of the guard of a static variable compiled code reads the first byte alone.
    const GUARD: u64 = 1;
    let len = match function {
        TrappedFunction::GuardRelease => GUARD,
        function if function.is_of_spin_lock() => WORD,
        _ => LOOKED_AT,
    };
    let conflict =
        memory.sharing.touch_in(index, None, object..object.saturating_add(len), TouchKind::Synchronises);
    if !conflict.candidates.is_empty() {
        let shared: Vec<Obj> =
            conflict.bytes.iter().map(|bytes| memory.stretch(bytes.start, bytes.end - bytes.start)).collect();
        memory.promoted |= memory.knowledge.promote(&conflict.candidates, None, &shared);
    }
}

/// A thread calls a function on an object in memory that may be there at several addresses.
pub(crate) fn note_way(
    tracee: &Tracee,
    objects: &mut Objects,
    memory: &MemoryState,
    account: &mut Account,
    index: ThreadIndex,
    function: TrappedFunction,
) {
    use TrappedFunction as F;
    let task = &tracee.tasks[index];
    let (address, mutex) = (task.argument(0), task.argument(1));
    if matches!(function, F::MutexInit | F::CondInit | F::RwInit | F::SemInit | F::BarrierInit) {
        objects.ways.remove(&memory.shared_files.original(address));
    }
    let may_have_several = |address: u64| memory.shared_files.ranges().any(|range| range.contains(&address));
    if may_have_several(address)
        && let Some(is_private) = is_private(tracee, function, address)
    {
        note_futex(objects, account, futexes::futex_at(memory, address, is_private));
    }
    if function.waits_for_signal() && may_have_several(mutex) {
        let is_private = function.is_wait_of_rust() || tracee.mutex_memory(mutex).is_private();
        note_futex(objects, account, futexes::futex_at(memory, mutex, is_private));
    }
}

/// A thread comes to a lock, whose waiters it would not wake in the kernel if these have come to it in another way: the model has all of
/// them meet.
pub(crate) fn note_futex(objects: &mut Objects, account: &mut Account, futex: Futex) {
    if *objects.ways.entry(futex.word).or_insert(futex.private) != futex.private {
        account.enter_unwatched(Unwatched::of(UnwatchedKind::SharedMapping));
    }
}

/// Whether the C library's calls to wait for the object of a function, and to wake, are private to the process; `None`: there are none. Of
/// condition variables, where it is said depends on the version.
fn is_private(tracee: &Tracee, function: TrappedFunction, object: u64) -> Option<bool> {
    use TrappedFunction as F;
    const IN_LOCK: u64 = 28;
    const IN_SEMAPHORE: u64 = 8;
    const IN_BARRIER: u64 = 12;
    let is_shared = match function {
        F::MutexLock | F::MutexTryLock | F::MutexTimedLock { .. } | F::MutexUnlock => {
            return Some(tracee.mutex_memory(object).is_private());
        }
        F::ReadLock | F::ReadTryLock | F::ReadTimedLock { .. } | F::RwUnlock => IN_LOCK,
        F::WriteLock | F::WriteTryLock | F::WriteTimedLock { .. } => IN_LOCK,
        F::SemWait | F::SemTryWait | F::SemTimedWait { .. } | F::SemPost => IN_SEMAPHORE,
        F::BarrierWait => IN_BARRIER,
        F::CondWait | F::CondTimedWait { .. } | F::Signal | F::Broadcast => return Some(true),
        F::RustCondWait | F::RustCondTimedWait | F::RustLock | F::RustReadLock | F::RustWriteLock => {
            return Some(true);
        }
        _ => return None,
    };
    Some(tracee.number(object + is_shared, WORD as usize) == 0)
}

/// The instruction at which a thread stands is about to run: enters it in the account if it touches such an object.
pub(crate) fn note_access(
    tracee: &Tracee,
    objects: &Objects,
    memory: &MemoryState,
    account: &mut Account,
    index: ThreadIndex,
) {
    let at = tracee.tasks[index].regs.rip;
    let Some(instruction) = memory.layout.candidate_at(at) else { return };
    let touches = |access: &MemoryAccess| {
        let bytes = access.addr..access.addr.saturating_add(access.len);
        is_used_in(objects, &bytes, access.write)
    };
    // Those of Rust's standard library are words of the program's own, which the model does not replace.
    let is_rust = || memory.layout.module_at(at).is_some_and(|(_, module)| module.image.is_rust());
    if accesses_of(tracee, memory, index, instruction).iter().any(touches) && !is_rust() {
        account.enter_unwatched(Unwatched::of(UnwatchedKind::HeldObject));
    }
}

/// Whether one of the objects that begin in these bytes is held or waited for, so that it matters that they are written, or read.
fn is_used_in(objects: &Objects, bytes: &Range<u64>, writes: bool) -> bool {
    let is_locked = || {
        any_in(&objects.mutexes, bytes, |mutex| mutex.owner.is_some())
            || any_in(&objects.rwlocks, bytes, |lock| !lock.can_write())
    };
    // Of locks the library itself keeps the memory.
    writes && is_locked()
        || any_in(&objects.conds, bytes, |queue| !queue.waiters.is_empty())
        || any_in(&objects.barriers, bytes, |barrier| !barrier.arrived.is_empty())
}

/// Whether something holds of an object whose first word is in these bytes.
fn any_in<T>(objects: &FxHashMap<u64, T>, bytes: &Range<u64>, holds: impl Fn(&T) -> bool) -> bool {
    let first = bytes.start / WORD * WORD;
    if (bytes.end - first).div_ceil(WORD) < objects.len() as u64 {
        let mut words = (first..bytes.end).step_by(WORD as usize);
        return words.any(|at| objects.get(&at).is_some_and(&holds));
    }
    objects.iter().any(|(at, object)| (first..bytes.end).contains(at) && holds(object))
}
