//! Calls at sockets with a time limit that can begin at once, and then wait for more: for a whole message (`MSG_WAITALL`), for room for all
//! that is sent, for a connection to be accepted. The kernel ends that wait by real time, while no other thread runs. Where one could have,
//! that the wait ended says nothing of the program, and the execution is cut.

use checker::failure::{FailureDetail, FailureKind};
use checker::program::ExecutionError;

use crate::control::enabled;
use crate::control::state::flow::WaitResult;
use crate::control::state::scheduling::Scheduling;
use crate::control::state::sync_objects::Objects;
use crate::control::state::thread::RunState;
use crate::control::state::thread_index::ThreadIndex;
use crate::control::tracee::{Tracee, stacks};
use crate::error::{SystemAction, system};
use crate::os::fd::{self, Readiness};
use crate::os::wait::WaitStatus;
use crate::os::{Regs, Tid, memory, network, ptrace};

/// A call that is through where it returns this many bytes.
struct CallCompletion {
    bytes: u64,
    /// The events at its socket for which it waits until then.
    events: i16,
}

/// Lets a thread go through the call at which it stands, if that is such a call while others can go on. `true`: it has waited in vain, and
/// the thread is taken for failed.
pub(crate) fn waits_in_vain(
    tracee: &mut Tracee,
    scheduling: &mut Scheduling,
    objects: &Objects,
    index: ThreadIndex,
) -> Result<bool, ExecutionError> {
    let (regs, pid) = (tracee.tasks[index].regs, tracee.leader);
    let Some(CallCompletion { bytes, events }) = completion(pid, &regs) else { return Ok(false) };
    let socket = regs.rdi as i32;
    if network::time_limit(pid, socket, events).is_none()
        || fd::is_non_blocking(pid, socket)
        || !enabled::somebody_moves(tracee, scheduling, objects)
    {
        return Ok(false);
    }
    let tid = tracee.tasks[index].tid;
    tracee.watch.begin(pid, tid);
    ptrace::step(tid, 0).map_err(system(SystemAction::StepThread))?;
    let is_late = match tracee.wait_for_report(tid, |_| true)? {
        WaitResult::Report(WaitStatus::Signal(signal)) => {
            if signal != libc::SIGTRAP {
                tracee.tasks[index].defer_signal();
            }
            tracee.tasks[index].regs = ptrace::registers(tid).map_err(system(SystemAction::ReadRegisters))?;
            match tracee.tasks[index].regs.rax as i64 {
                // A socket whose other end is gone is ready.
                done @ 0.. => (done as u64) < bytes && !is_ready(pid, socket, events),
                error => [libc::EAGAIN, libc::EINPROGRESS].contains(&-(error as i32)),
            }
        }
        WaitResult::Report(_) => return Ok(false),
        WaitResult::Over(reason) => {
            tracee.gone = true;
            reason.ends_everything().map_or(Ok(true), Err)?
        }
    };
    if is_late {
        let stack = stacks::stack(tracee, index);
        let failure = scheduling.failure(index, FailureKind::Timeout, FailureDetail::NoKeyPoint, stack);
        scheduling.threads[index].run_state = RunState::Failed(failure);
    }
    Ok(is_late)
}

fn is_ready(pid: Tid, socket: i32, events: i16) -> bool {
    matches!(fd::readiness(pid, socket, events), Readiness::Known(true))
}

fn completion(pid: Tid, regs: &Regs) -> Option<CallCompletion> {
    let stream = || network::is_stream(pid, regs.rdi as i32);
    let all = |flags: u64| flags as i32 & libc::MSG_WAITALL != 0 && flags as i32 & libc::MSG_DONTWAIT == 0;
    let waits = |flags: u64| flags as i32 & libc::MSG_DONTWAIT == 0;
    let (bytes, events) = match regs.orig_rax as i64 {
        libc::SYS_recvfrom if all(regs.r10) && stream() => (regs.rdx, libc::POLLIN),
        libc::SYS_recvmsg if all(regs.rdx) && stream() => (message(pid, regs.rsi), libc::POLLIN),
        libc::SYS_sendto if waits(regs.r10) => (regs.rdx, libc::POLLOUT),
        libc::SYS_sendmsg if waits(regs.rdx) => (message(pid, regs.rsi), libc::POLLOUT),
        libc::SYS_write => (regs.rdx, libc::POLLOUT),
        libc::SYS_writev => (total(pid, regs.rsi, regs.rdx), libc::POLLOUT),
        libc::SYS_connect => (0, libc::POLLOUT),
        _ => return None,
    };
    Some(CallCompletion { bytes, events })
}

/// The size of a message (`struct msghdr`).
fn message(pid: Tid, at: u64) -> u64 {
    const VECTORS: u64 = 16;
    const COUNT: u64 = 24;
    let number = |at| memory::number(pid, at, 8).unwrap_or(0);
    total(pid, number(at + VECTORS), number(at + COUNT))
}

/// The size of some pieces of memory (`struct iovec`).
fn total(pid: Tid, at: u64, count: u64) -> u64 {
    const MOST: u64 = 1024;
    const SIZE: u64 = 16;
    let len = |nth: u64| memory::number(pid, at + nth * SIZE + 8, 8).unwrap_or(0);
    (0..count.min(MOST)).map(len).fold(0, u64::saturating_add)
}
