//! The lives of synchronisation objects: they end when they are destroyed, and what uses them after that has failed.

use checker::failure::{Failure, FailureDetail, FailureKind};

use crate::control::memory::naming::Owner;
use crate::control::process::Process;
use crate::control::state::pending::{Act, Pending};
use crate::control::state::sync_objects::{Index, MutexMemory};
use crate::layout::functions::Function;

impl Process {
    /// Takes note of the beginning or the end of an object's life.
    pub(crate) fn note_life(&mut self, index: Index, function: Function, object: u64) {
        use Function as F;
        match function {
            F::MutexInit | F::CondInit | F::RwInit | F::SemInit | F::BarrierInit => {
                self.objects.destroyed.remove(&object);
            }
            F::MutexDestroy | F::CondDestroy | F::RwDestroy | F::SemDestroy | F::BarrierDestroy => {
                self.objects.destroyed.insert(object, self.scheduling.threads[index].name);
            }
            _ => {}
        }
    }

    /// The failure that an operation is if it uses an object that has been destroyed.
    pub(crate) fn use_of_destroyed(&self, index: Index, pending: &Pending) -> Option<Failure> {
        let Act::Function { function, object, .. } = pending.act else { return None };
        let mutex = function.waits_for_signal().then(|| self.tracee.tasks[index].argument(1));
        let is_gone = |object: &u64| self.is_destroyed(function, *object);
        let is_gone_mutex = |mutex: &u64| !function.is_wait_of_rust() && self.mutex_is_destroyed(*mutex);
        let used = Some(object).filter(is_gone).or(mutex.filter(is_gone_mutex))?;
        let detail = FailureDetail::UsedDestroyed {
            object: self.object(used, 1),
            destroyed_by: self.objects.destroyed.get(&used).copied(),
        };
        Some(self.failure(index, FailureKind::UseAfterDestroy, detail, self.stack(index)))
    }

    /// Whether a call for a mutex fails because it would have to wait, until a time that is none.
    pub(crate) fn fails_by_limit(&self, index: Index, function: Function, mutex: u64) -> bool {
        let can_lock = || self.objects.mutexes.get(&mutex).is_none_or(|mutex| mutex.can_lock(index));
        self.has_invalid_limit(index, function) && !can_lock()
    }

    /// Whether the object of a call that uses it is destroyed. What can come to life without a call, by its initial value,
    /// may have done so unseen where its memory is used for several objects one after the other: on stacks and in the heap.
    fn is_destroyed(&self, function: Function, object: u64) -> bool {
        use Function as F;
        let was_destroyed = || self.objects.destroyed.contains_key(&object);
        match function {
            F::MutexLock | F::MutexTryLock | F::MutexTimedLock { .. } | F::MutexUnlock => {
                self.mutex_is_destroyed(object)
            }
            F::SemWait | F::SemTimedWait { .. } | F::SemTryWait | F::SemPost | F::BarrierWait => {
                was_destroyed()
            }
            F::CondWait | F::CondTimedWait { .. } | F::Signal | F::Broadcast => {
                was_destroyed() && self.is_of_module(object)
            }
            F::ReadLock | F::ReadTimedLock { .. } | F::ReadTryLock | F::RwUnlock => {
                was_destroyed() && self.is_of_module(object)
            }
            F::WriteLock | F::WriteTimedLock { .. } | F::WriteTryLock => {
                was_destroyed() && self.is_of_module(object)
            }
            _ => false,
        }
    }

    /// The C library marks the memory of a mutex that is destroyed.
    fn mutex_is_destroyed(&self, mutex: u64) -> bool {
        self.objects.destroyed.contains_key(&mutex) && self.mutex_memory(mutex).kind == MutexMemory::DESTROYED
    }

    fn is_of_module(&self, object: u64) -> bool {
        matches!(self.place(object).owner, Owner::Module)
    }
}
