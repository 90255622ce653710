//! Writes of more than a pipe or a socket has room for. The kernel would wait within the call, with a part of it written, while
//! no thread runs that could make room. Each part is an event of its own instead: the call is made without waiting, and again
//! for the rest.

use checker::program::ExecutionError;

use crate::control::state::thread_index::ThreadIndex;
use crate::control::tracee::{LongWrite, Tracee};
use crate::os::fd::{self, Readiness};
use crate::os::{Regs, Tid, network};

/// A pipe or a socket that is ready has room for so many bytes (`PIPE_BUF`).
const ROOM: u64 = 4096;

/// Lets the thread that is about to go on into a write carry out as much of it as there is room for, if that is such a one.
pub(crate) fn carry_out_part(tracee: &mut Tracee, index: ThreadIndex) -> Result<(), ExecutionError> {
    let (regs, pid) = (tracee.tasks[index].regs, tracee.leader);
    let descriptor = regs.rdi as i32;
    let known = tracee.tasks[index].long_write.take();
    if known.is_none() && !is_long(pid, &regs) {
        return Ok(());
    }
    let LongWrite { from, count, done } =
        known.unwrap_or(LongWrite { from: regs.rsi, count: regs.rdx, done: 0 });
    // A signal has ended the wait for room.
    if !matches!(fd::readiness(pid, descriptor, libc::POLLOUT), Readiness::Known(true)) {
        if done > 0 {
            (tracee.tasks[index].regs.rsi, tracee.tasks[index].regs.rdx) = (from, count);
            tracee.answer(index, done as i64)?;
        }
        return Ok(());
    }
    let Some(without_waiting) = fd::without_waiting(pid, descriptor) else { return Ok(()) };
    let result = tracee.complete_call(index)?;
    drop(without_waiting);
    let Some(result) = result else { return Ok(()) };
    let written = u64::try_from(result).unwrap_or(0);
    let done = done + written;
    let is_through = result < 0 && result != -i64::from(libc::EAGAIN) || done >= count;
    let regs = &mut tracee.tasks[index].regs;
    if is_through {
        regs.rax = if done > 0 { done } else { result as u64 };
        (regs.rsi, regs.rdx) = (from, count);
        return tracee.write_registers(index);
    }
    (regs.rsi, regs.rdx) = (from.wrapping_add(done), count - done);
    tracee.tasks[index].long_write = Some(LongWrite { from, count, done });
    tracee.repeat_call(index)
}

/// Whether a call is a write that may take more room than there is, and waits for it.
fn is_long(pid: Tid, regs: &Regs) -> bool {
    let descriptor = regs.rdi as i32;
    let is_write = match regs.orig_rax as i64 {
        libc::SYS_write => true,
        libc::SYS_sendto => regs.r10 as i32 & libc::MSG_DONTWAIT == 0 && regs.r8 == 0,
        _ => false,
    };
    is_write
        && regs.rdx > ROOM
        && (fd::is_pipe(pid, descriptor) || network::is_stream(pid, descriptor))
        && !fd::is_non_blocking(pid, descriptor)
        && network::time_limit(pid, descriptor, libc::POLLOUT).is_none()
}
