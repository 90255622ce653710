//! Waits for semaphores that signal handlers interrupt. The handler of the first signal decides whether the function fails (`EINTR`), or
//! waits on: by `SA_RESTART`, of which the kernel alone knows. So the thread is made to look as if it stood in the kernel's wait when it
//! gets the signal, and what the kernel lets it come back to is its answer.
//!
//! The function's own body then fails as it does anywhere, with all that belongs to that. Where the semaphore was posted meanwhile, the body
//! is not to find that: in the kernel, the wait had ended before.

use std::mem::offset_of;

use checker::program::ExecutionError;

use crate::control::state::pending::Action;
use crate::control::state::scheduling::Scheduling;
use crate::control::state::thread::{InterruptedWait, WaitEnd, WaitOutcome};
use crate::control::state::thread_index::ThreadIndex;
use crate::control::tracee::Tracee;
use crate::error::{SystemAction, system};
use crate::layout::functions::TrappedFunction;
use crate::os::wait::WaitStatus;
use crate::os::{Regs, ptrace};

/// The result of a wait in the kernel that a signal interrupts, and that is repeated with `SA_RESTART`.
const RESTART: i64 = 512;

/// The result of one that a handler ends in any case.
const RESTART_WITHOUT_HANDLER: i64 = 516;

/// `syscall`
const SYSCALL_LEN: u64 = 2;

/// The result that the wait of a function would have in the kernel, if the function is one that can fail for a signal.
fn left_with(wait: &InterruptedWait) -> Option<i64> {
    let Action::Function { function, .. } = wait.pending.action else { return None };
    match function {
        TrappedFunction::SemWait => Some(RESTART),
        TrappedFunction::SemTimedWait { .. } => Some(RESTART_WITHOUT_HANDLER),
        _ => None,
    }
}

/// A thread that the kernel has stopped is about to get a signal that the program handles. If that interrupts such a wait, the handler
/// begins here, and the wait gets its outcome; what the thread stops for then, if it has not begun. `None`: it gets the signal when it
/// goes on.
pub(crate) fn begin_handler(
    tracee: &mut Tracee,
    scheduling: &mut Scheduling,
    index: ThreadIndex,
    signal: i32,
) -> Result<Option<WaitStatus>, ExecutionError> {
    let before = tracee.tasks[index].regs;
    let Some(wait) = scheduling.threads[index].interrupted.last_mut() else { return Ok(None) };
    let is_here = (wait.rip, wait.rsp) == (before.rip, before.rsp) && wait.outcome.is_none();
    let Some(left) = left_with(wait).filter(|_| is_here) else { return Ok(None) };
    let in_kernel =
        Regs { orig_rax: libc::SYS_futex as u64, rax: -left as u64, rip: before.rip + SYSCALL_LEN, ..before };
    let tid = tracee.tasks[index].tid;
    ptrace::set_registers(tid, &in_kernel).map_err(system(SystemAction::WriteRegisters))?;
    let status = tracee.step_into_handler(tid, signal)?;
    if status != WaitStatus::Signal(libc::SIGTRAP) {
        // There is no room for the handler.
        tracee.write_registers(index)?;
        return Ok(Some(status));
    }
    tracee.tasks[index].regs = ptrace::registers(tid).map_err(system(SystemAction::ReadRegisters))?;
    let saved = SavedRegisters::of(&tracee.tasks[index].regs);
    let fails = tracee.number(saved.place(libc::REG_RAX), 8) as i64 == -i64::from(libc::EINTR);
    wait.outcome = Some(if fails { WaitOutcome::Fails } else { WaitOutcome::GoesOn });
    for (register, value) in [(libc::REG_RIP, before.rip), (libc::REG_RAX, before.rax)] {
        tracee.write(saved.place(register), &value.to_le_bytes());
    }
    Ok(Some(status))
}

/// The registers with which a thread goes on behind a handler at whose first instruction it stands, by their address.
struct SavedRegisters(u64);

impl SavedRegisters {
    /// The third argument of a handler is its context.
    fn of(regs: &Regs) -> Self {
        Self(regs.rdx + offset_of!(libc::ucontext_t, uc_mcontext) as u64)
    }

    fn place(&self, register: i32) -> u64 {
        self.0 + register as u64 * 8
    }
}

/// Lets the body of a function, at whose entry a thread stands, fail for a signal.
pub(crate) fn fail(
    tracee: &mut Tracee,
    scheduling: &mut Scheduling,
    index: ThreadIndex,
) -> Result<(), ExecutionError> {
    let semaphore = tracee.tasks[index].argument(0);
    let value = tracee.number(semaphore, 4) as u32;
    add(tracee, semaphore, value.wrapping_neg());
    scheduling.threads[index].ends_wait = Some(WaitEnd::Signal { semaphore, value });
    tracee.pass_trap(index)
}

/// The error of a wait in the kernel to which the body of a function has come.
pub(crate) fn leave(tracee: &Tracee, end: WaitEnd) -> i32 {
    match end {
        WaitEnd::TimeOut => libc::ETIMEDOUT,
        WaitEnd::Signal { semaphore, value } => {
            add(tracee, semaphore, value);
            libc::EINTR
        }
    }
}

fn add(tracee: &Tracee, semaphore: u64, count: u32) {
    let value = (tracee.number(semaphore, 4) as u32).wrapping_add(count);
    // Another process may use it too.
    if count != 0 {
        tracee.write(semaphore, &value.to_le_bytes());
    }
}
