//! Files from which a thread reads its pending signals (`signalfd`). The kernel keeps the signals and hands them out. It tells
//! whether one is there for the process that asks, so that the tracer has to look at the thread's signals itself.

use checker::operation::Access;
use checker::program::ExecutionError;

use super::state::Signals;
use crate::control::kernel::accesses;
use crate::control::memory::access;
use crate::control::operations;
use crate::control::state::account::Account;
use crate::control::state::flow::Flow;
use crate::control::state::memory::MemoryState;
use crate::control::state::pending::FileEvents;
use crate::control::state::scheduling::Scheduling;
use crate::control::state::thread_index::ThreadIndex;
use crate::control::tracee::Tracee;
use crate::os::fd::{self, Readiness};

/// A thread makes such a file.
pub(crate) fn make(
    tracee: &mut Tracee,
    scheduling: &mut Scheduling,
    memory: &mut MemoryState,
    account: &mut Account,
    index: ThreadIndex,
) -> Result<Flow, ExecutionError> {
    access::begin_concurrency(tracee, memory)?;
    Ok(accesses::pass_to_kernel(tracee, scheduling, memory, account, index))
}

/// Whether one of these files is ready for this thread.
pub(crate) fn is_any_ready(tracee: &Tracee, index: ThreadIndex, files: &[FileEvents]) -> bool {
    files.iter().any(|&(file, events)| is_ready(tracee, index, file, events))
}

/// Whether all of these files are ready for this thread.
pub(crate) fn are_all_ready(tracee: &Tracee, index: ThreadIndex, files: &[FileEvents]) -> bool {
    files.iter().all(|&(file, events)| is_ready(tracee, index, file, events))
}

fn is_ready(tracee: &Tracee, index: ThreadIndex, file: i32, events: i16) -> bool {
    match fd::readiness(tracee.leader, file, events) {
        Readiness::Known(is_ready) => is_ready,
        Readiness::Signals(mask) => {
            let signals = Signals::of(tracee.tasks[index].tid);
            events & libc::POLLIN != 0 && signals.is_none_or(|signals| signals.pending & mask != 0)
        }
        // The set itself must not be asked: it would take what is not ready for this process out of its list.
        Readiness::Members(members) => {
            events & libc::POLLIN != 0
                && members.into_iter().any(|(member, events)| is_ready(tracee, index, member, events))
        }
    }
}

/// Further objects of a call on such files: the signals of its thread, and those of the process.
pub(crate) fn signals_read(
    tracee: &Tracee,
    scheduling: &Scheduling,
    index: ThreadIndex,
    files: &[FileEvents],
) -> impl Iterator<Item = Access> {
    let is_one = files.iter().any(|(file, _)| fd::tells_of_signals(tracee.leader, *file));
    let signals = [Some(index), None].map(|to| Access::write(operations::signals_of(tracee, scheduling, to)));
    signals.into_iter().filter(move |_| is_one)
}
