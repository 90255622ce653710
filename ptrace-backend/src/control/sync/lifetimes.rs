//! The lives of synchronisation objects: they end when they are destroyed, and a use after that is a failure.

use checker::failure::{Failure, FailureDetail, FailureKind};

use crate::control::memory::naming::MemoryRegion;
use crate::control::state::memory::MemoryState;
use crate::control::state::pending::{Action, Pending};
use crate::control::state::scheduling::Scheduling;
use crate::control::state::sync_objects::{MutexMemory, Objects};
use crate::control::state::thread_index::ThreadIndex;
use crate::control::tracee::{Tracee, stacks};
use crate::layout::functions::TrappedFunction;

/// Takes note of the beginning or the end of an object's life.
pub(crate) fn note_life(
    scheduling: &Scheduling,
    objects: &mut Objects,
    index: ThreadIndex,
    function: TrappedFunction,
    object: u64,
) {
    use TrappedFunction as F;
    match function {
        F::MutexInit | F::CondInit | F::RwInit | F::SemInit | F::BarrierInit => {
            objects.destroyed.remove(&object);
        }
        F::MutexDestroy | F::CondDestroy | F::RwDestroy | F::SemDestroy | F::BarrierDestroy => {
            objects.destroyed.insert(object, scheduling.threads[index].name);
        }
        _ => {}
    }
}

/// The failure that an operation is if it uses an object that has been destroyed.
pub(crate) fn use_of_destroyed(
    tracee: &Tracee,
    scheduling: &Scheduling,
    objects: &Objects,
    memory: &MemoryState,
    index: ThreadIndex,
    pending: &Pending,
) -> Option<Failure> {
    let Action::Function { function, object, .. } = pending.action else { return None };
    let mutex = function.waits_for_signal().then(|| tracee.tasks[index].argument(1));
    let is_gone = |object: &u64| is_destroyed(tracee, objects, memory, function, *object);
    let is_gone_mutex =
        |mutex: &u64| !function.is_wait_of_rust() && mutex_is_destroyed(tracee, objects, *mutex);
    let used = Some(object).filter(is_gone).or(mutex.filter(is_gone_mutex))?;
    let detail = FailureDetail::UsedDestroyed {
        object: memory.object(used, 1),
        destroyed_by: objects.destroyed.get(&used).copied(),
    };
    Some(scheduling.failure(index, FailureKind::UseAfterDestroy, detail, stacks::stack(tracee, index)))
}

/// Whether the object of a call that uses it is destroyed. An object that can come to life without a call, by its initial
/// value, may have done so unseen where its memory is used for several objects one after the other: on stacks and in the heap.
fn is_destroyed(
    tracee: &Tracee,
    objects: &Objects,
    memory: &MemoryState,
    function: TrappedFunction,
    object: u64,
) -> bool {
    use TrappedFunction as F;
    let was_destroyed = || objects.destroyed.contains_key(&object);
    match function {
        F::MutexLock | F::MutexTryLock | F::MutexTimedLock { .. } | F::MutexUnlock => {
            mutex_is_destroyed(tracee, objects, object)
        }
        F::SemWait | F::SemTimedWait { .. } | F::SemTryWait | F::SemPost | F::BarrierWait => was_destroyed(),
        F::CondWait | F::CondTimedWait { .. } | F::Signal | F::Broadcast => {
            was_destroyed() && is_of_module(memory, object)
        }
        F::ReadLock | F::ReadTimedLock { .. } | F::ReadTryLock | F::RwUnlock => {
            was_destroyed() && is_of_module(memory, object)
        }
        F::WriteLock | F::WriteTimedLock { .. } | F::WriteTryLock => {
            was_destroyed() && is_of_module(memory, object)
        }
        _ => false,
    }
}

/// The C library marks the memory of a mutex that is destroyed.
fn mutex_is_destroyed(tracee: &Tracee, objects: &Objects, mutex: u64) -> bool {
    objects.destroyed.contains_key(&mutex) && tracee.mutex_memory(mutex).kind == MutexMemory::DESTROYED
}

fn is_of_module(memory: &MemoryState, object: u64) -> bool {
    matches!(memory.place(object).region, MemoryRegion::Module)
}
