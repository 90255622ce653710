//! The time limits of calls.

use crate::control::state::scheduling::Scheduling;
use crate::control::state::sync_objects::Objects;
use crate::control::state::thread_index::ThreadIndex;
use crate::control::tracee::Tracee;
use crate::layout::functions::TrappedFunction;
use crate::virtual_syscalls::{is_valid_timespec, read_timespec};

/// The index of the argument of a function that is its time limit.
fn time_limit(function: TrappedFunction) -> Option<usize> {
    use TrappedFunction as F;
    match function {
        F::MutexTimedLock { limit }
        | F::CondTimedWait { limit }
        | F::ReadTimedLock { limit }
        | F::WriteTimedLock { limit }
        | F::SemTimedWait { limit }
        | F::TimedJoin { limit } => Some(limit),
        _ => None,
    }
}

/// The time at which the call of a function runs out of time, if it has a limit.
pub(crate) fn deadline(
    tracee: &Tracee,
    scheduling: &Scheduling,
    index: ThreadIndex,
    function: TrappedFunction,
) -> Option<u64> {
    if function == TrappedFunction::RustCondTimedWait {
        return Some(rust_deadline(tracee, scheduling, index));
    }
    let limit = time_limit(function).map(|i| tracee.tasks[index].argument(i));
    limit.and_then(|at| read_timespec(tracee.leader, at))
}

/// Whether the time limit of a call is no time (POSIX: `EINVAL`). The C library looks at it before anything else, but at
/// that of a mutex only where it would have to wait.
pub(crate) fn has_invalid_limit(tracee: &Tracee, index: ThreadIndex, function: TrappedFunction) -> bool {
    let limit = time_limit(function).map(|i| tracee.tasks[index].argument(i)).filter(|&limit| limit != 0);
    limit.is_some_and(|limit| !is_valid_timespec(tracee.leader, limit))
}

/// Whether a call for a mutex fails because it would have to wait, until a time that is none.
pub(crate) fn fails_by_limit(
    tracee: &Tracee,
    objects: &Objects,
    index: ThreadIndex,
    function: TrappedFunction,
    mutex: u64,
) -> bool {
    let can_lock = || objects.mutexes.get(&mutex).is_none_or(|mutex| mutex.can_lock(index));
    has_invalid_limit(tracee, index, function) && !can_lock()
}

/// The time at which a wait that begins now runs out of time. Its limit is a duration.
fn rust_deadline(tracee: &Tracee, scheduling: &Scheduling, index: ThreadIndex) -> u64 {
    const SECOND: u64 = 1_000_000_000;
    let task = &tracee.tasks[index];
    let limit = task.argument(2).saturating_mul(SECOND).saturating_add(task.argument(3) & 0xffff_ffff);
    scheduling.threads[index].virtual_system.now.saturating_add(limit)
}
