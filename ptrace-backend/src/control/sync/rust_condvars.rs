//! The condition variables of Rust's standard library, and the mutexes that are waited with.
//!
//! A wait of its own would read a counter, give the mutex back, sleep for as long as the counter is what was read, and take the
//! mutex again. Here it is what it is of the C library: the mutex is given back and the thread enqueued in one event, and a
//! notification wakes threads in the queue. It is left out that the library may wake one more, which has not gone to sleep
//! yet. The counter is left as it is.

use checker::names::Obj;
use checker::program::OpOutcome;

use crate::control::memory::blocks::quarantine;
use crate::control::memory::sharing::TouchKind;
use crate::control::state::memory::MemoryState;
use crate::control::state::pending::{Continuation, RUST_MUTEX};
use crate::control::state::scheduling::Scheduling;
use crate::control::state::sync_objects::{Futex, Objects};
use crate::control::state::thread_index::ThreadIndex;
use crate::control::sync::futexes;
use crate::control::tracee::Tracee;
use crate::layout::rust_locks::RustMutex;

/// Values of the word of a mutex: free, taken, and taken with other threads that wait for it.
const FREE: u32 = 0;
const TAKEN: u32 = 1;
const CONTENDED: u64 = 2;

/// The result of a wait with a time limit that did not run out of time.
pub(crate) const SIGNALLED: u64 = 1;

/// The mutex of a condition wait, as its locking is called.
pub(crate) fn mutex_object(memory: &MemoryState, mutex: u64, of_rust: bool) -> Obj {
    memory.object(mutex, if of_rust { RUST_MUTEX as u64 } else { 1 })
}

/// Takes note that a wait gives back the mutex at this address, and takes it again.
pub(crate) fn use_mutex(tracee: &Tracee, memory: &mut MemoryState, index: ThreadIndex, mutex: u64) {
    quarantine::use_block(tracee, memory, index, mutex);
    let conflict = memory.sharing.touch_in(
        index,
        None,
        mutex..mutex.saturating_add(RUST_MUTEX as u64),
        TouchKind::Writes,
    );
    memory.learn_conflict(&conflict, None);
}

/// Gives a mutex back, and wakes one of the threads that sleep until then, as the mutex's own code does where it has them
/// sleep.
pub(crate) fn give_back(
    tracee: &Tracee,
    scheduling: &mut Scheduling,
    objects: &mut Objects,
    index: ThreadIndex,
    mutex: u64,
) {
    hold_mutex(objects, index, RustMutex::Unlock, mutex);
    let was = tracee.number(mutex, RUST_MUTEX);
    tracee.write(mutex, &FREE.to_le_bytes());
    if was == CONTENDED {
        futexes::wake(scheduling, objects, Futex::private(mutex), Futex::ANY, 1, OpOutcome::Only, None);
    }
}

/// The second half of a wait: takes the mutex, which is free.
pub(crate) fn take_mutex(
    tracee: &Tracee,
    objects: &mut Objects,
    index: ThreadIndex,
    mutex: u64,
    result: u64,
) -> Continuation {
    hold_mutex(objects, index, RustMutex::Lock, mutex);
    tracee.write(mutex, &TAKEN.to_le_bytes());
    Continuation::Return(result)
}

/// Takes note of the thread that holds a mutex of Rust's standard library, for reports: the operations that the mutex allows
/// are decided by its own memory.
pub(crate) fn hold_mutex(objects: &mut Objects, index: ThreadIndex, what: RustMutex, addr: u64) {
    let owner = (what == RustMutex::Lock).then_some(index);
    objects.mutexes.entry(addr).or_default().owner = owner;
}
