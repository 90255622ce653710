//! The queues of waiters at condition variables and futexes.

use checker::program::OpOutcome;

use crate::control::state::sync_objects::Queue;
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
    let waiters = &mut queue?.waiters;
    let picked = match outcome {
        OpOutcome::Wake(name) => waiters.iter().position(|&i| threads[i].name == name),
        OpOutcome::Only | OpOutcome::Value(_) => None,
    };
    (!waiters.is_empty()).then(|| waiters.remove(picked.unwrap_or(0)))
}
