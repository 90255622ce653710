//! Files from which a thread reads its pending signals (`signalfd`). The kernel keeps the signals and hands them out. Whether one
//! is there it says of the process that asks, so that the tracer has to look at the thread's signals itself.

use checker::operation::Access;
use checker::program::ExecutionError;

use super::state::Signals;
use crate::answers::PID;
use crate::control::kernel::accesses;
use crate::control::memory::access;
use crate::control::operations;
use crate::control::process::Process;
use crate::control::state::flow::{Flow, system};
use crate::control::state::pending::FileEvents;
use crate::control::state::scheduling::Scheduling;
use crate::control::state::thread_index::ThreadIndex;
use crate::control::tracee::Tracee;
use crate::os::fd::{self, Readiness};
use crate::os::wait::WaitStatus;
use crate::os::{Tid, memory, ptrace};

/// A `struct signalfd_siginfo`, and where the sender's number is in it.
const SIZE: u64 = 128;
const SENDER: u64 = 12;

/// A thread makes such a file.
pub(crate) fn make(process: &mut Process, index: ThreadIndex) -> Result<Flow, ExecutionError> {
    let Process { tracee, scheduling, memory, account, .. } = process;
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

/// If the thread is about to read such a file, lets it do so, with the senders' numbers as the program knows them.
pub(crate) fn read(tracee: &mut Tracee, index: ThreadIndex) -> Result<(), ExecutionError> {
    let regs = tracee.tasks[index].regs;
    if regs.orig_rax as i64 != libc::SYS_read || !fd::tells_of_signals(tracee.leader, regs.rdi as i32) {
        return Ok(());
    }
    let tid = tracee.tasks[index].tid;
    match tracee.step(tid)? {
        WaitStatus::Signal(libc::SIGTRAP) => {}
        WaitStatus::Signal(signal) => tracee.tasks[index].deferred_signal = signal,
        _ => return Ok(()),
    }
    tracee.tasks[index].regs = ptrace::registers(tid).map_err(system("read registers"))?;
    let read = tracee.tasks[index].regs.rax as i64;
    for at in (0..u64::try_from(read).unwrap_or(0) / SIZE).map(|nth| regs.rsi + nth * SIZE + SENDER) {
        if tracee.number(at, 4) as Tid == tracee.leader {
            memory::write(tracee.leader, at, &(PID as u32).to_le_bytes());
        }
    }
    Ok(())
}
