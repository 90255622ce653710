//! The effect of calls of thread functions on the objects.

use crate::control::state::scheduling::Scheduling;
use crate::control::state::sync_objects::{Mutex, Objects};
use crate::control::state::thread_index::ThreadIndex;
use crate::control::sync::lifetimes;
use crate::control::tracee::Tracee;
use crate::layout::functions::TrappedFunction;

/// Carries out the effect of a function on the model. `false`: it only looks.
pub(crate) fn carry_out(
    tracee: &Tracee,
    scheduling: &mut Scheduling,
    objects: &mut Objects,
    index: ThreadIndex,
    function: TrappedFunction,
    object: u64,
) -> bool {
    use TrappedFunction as F;
    lifetimes::note_life(scheduling, objects, index, function, object);
    match function {
        F::MutexInit | F::MutexDestroy | F::SpinInit => {
            objects.mutexes.remove(&object);
        }
        F::MutexLock | F::MutexTryLock | F::MutexTimedLock { .. } => {
            return lock_mutex(tracee, objects, index, object);
        }
        F::SpinLock | F::SpinTryLock => return objects.mutexes.entry(object).or_default().lock(index),
        F::MutexUnlock => {
            let mutex = known_mutex(tracee, objects, object);
            if mutex.owner != Some(index) {
                return false;
            }
            mutex.unlock();
        }
        F::SpinUnlock => objects.mutexes.entry(object).or_default().unlock(),
        F::CondInit => {
            objects.conds.remove(&object);
        }
        F::RwInit => {
            objects.rwlocks.remove(&object);
        }
        F::ReadLock | F::ReadTimedLock { .. } | F::ReadTryLock => {
            let lock = objects.rwlocks.entry(object).or_default();
            if !lock.can_read() {
                return false;
            }
            lock.readers.push(index);
        }
        F::WriteLock | F::WriteTimedLock { .. } | F::WriteTryLock => {
            let lock = objects.rwlocks.entry(object).or_default();
            if !lock.can_write() {
                return false;
            }
            lock.writer = Some(index);
            lock.queue.retain(|&writer| writer != index);
        }
        F::RwUnlock => {
            let lock = objects.rwlocks.entry(object).or_default();
            if lock.writer == Some(index) {
                lock.writer = None;
            } else if let Some(at) = lock.readers.iter().position(|&r| r == index) {
                lock.readers.swap_remove(at);
            }
        }
        F::TestCancel | F::Look => {
            let cancellation = &mut scheduling.threads[index].cancellation;
            cancellation.acts |= cancellation.is_due();
        }
        F::SemTryWait => return tracee.number(object, 4) as u32 > 0,
        F::Once | F::GuardAcquire => return enter_once(tracee, objects, index, function, object),
        F::GuardRelease => {
            objects.onces.remove(&object);
        }
        _ => {}
    }
    true
}

/// Takes a mutex, if its lock operation succeeds; says whether it does.
pub(crate) fn lock_mutex(tracee: &Tracee, objects: &mut Objects, index: ThreadIndex, at: u64) -> bool {
    let mutex = known_mutex(tracee, objects, at);
    if mutex.robust && tracee.mutex_memory(at).is_lost() {
        return false;
    }
    mutex.lock(index)
}

/// A mutex of the C library, whose own memory says of what type it is.
pub(crate) fn known_mutex<'o>(tracee: &Tracee, objects: &'o mut Objects, at: u64) -> &'o mut Mutex {
    objects.mutexes.entry(at).or_insert_with(|| Mutex::of(tracee.mutex_memory(at)))
}

/// Enters a once-initialisation: `true` if this thread is the one that runs the initialiser.
fn enter_once(
    tracee: &Tracee,
    objects: &mut Objects,
    index: ThreadIndex,
    function: TrappedFunction,
    object: u64,
) -> bool {
    let done = match function {
        TrappedFunction::GuardAcquire => tracee.number(object, 1) == 1,
        _ => tracee.number(object, 4) & 2 != 0,
    };
    if !done {
        objects.onces.entry(object).or_default().runner = Some(index);
    }
    !done
}
