//! The queues of waiters at condition variables and futexes.

use checker::program::OpOutcome;

use crate::control::state::pending::Pending;
use crate::control::state::sync_objects::{Futex, Queue};
use crate::control::state::thread::Thread;
use crate::control::state::thread_index::{PerThread, ThreadIndex};

/// Removes a thread from a queue.
pub(crate) fn dequeue(queue: Option<&mut Queue>, index: ThreadIndex) {
    if let Some(queue) = queue {
        queue.waiters.retain(|&waiter| waiter != index);
    }
}

/// Takes the waiter that was picked, else the one that has waited longest.
pub(crate) fn take_waiter(
    queue: Option<&mut Queue>,
    outcome: OpOutcome,
    threads: &PerThread<Thread>,
) -> Option<ThreadIndex> {
    take_waiter_for(queue, Futex::ANY, outcome, threads)
}

/// The same among those that wait for wakes of one of these kinds.
pub(crate) fn take_waiter_for(
    queue: Option<&mut Queue>,
    kinds: u32,
    outcome: OpOutcome,
    threads: &PerThread<Thread>,
) -> Option<ThreadIndex> {
    let queue = queue?;
    let picked = match outcome {
        OpOutcome::Wake(name) => waiters_for(queue, kinds, threads).find(|&i| threads[i].name == name),
        OpOutcome::Only | OpOutcome::Value(_) => None,
    };
    let taken = picked.or_else(|| waiters_for(queue, kinds, threads).next())?;
    dequeue(Some(queue), taken);
    Some(taken)
}

/// The waiters in a queue that a wake of one of these kinds may wake.
pub(crate) fn waiters_for(
    queue: &Queue,
    kinds: u32,
    threads: &PerThread<Thread>,
) -> impl Iterator<Item = ThreadIndex> {
    let awaits = move |waiter: &ThreadIndex| {
        let awaited = threads[*waiter].pending.as_ref().map_or(Futex::ANY, Pending::awaited_kinds);
        awaited & kinds != 0
    };
    queue.waiters.iter().copied().filter(awaits)
}
