//! Threads that come to closed code ([`crate::layout::closed_code`]).

use std::sync::Arc;

use checker::program::ExecutionError;

use crate::control::state::thread_index::ThreadIndex;
use crate::control::tracee::{PAGE, Tracee};
use crate::error::{BrokenExecution, SystemAction, system};
use crate::layout::LONGEST;
use crate::os::wait::WaitStatus;
use crate::os::{Regs, Tid, ptrace};

/// The closed page to which a thread has come that gets this signal.
pub(crate) fn page(tracee: &Tracee, index: ThreadIndex, signal: i32) -> Option<u64> {
    if signal != libc::SIGSEGV || tracee.layout.closed.is_empty() {
        return None;
    }
    let info = ptrace::signal_info(tracee.tasks[index].tid).ok().filter(ptrace::is_fault)?;
    let at = ptrace::fault_address(&info);
    // The end of an instruction may be in the next page.
    let rip = tracee.tasks[index].regs.rip;
    let is_of_instruction = (rip..rip.saturating_add(LONGEST as u64)).contains(&at);
    let page = at & !(PAGE - 1);
    (is_of_instruction && tracee.layout.closed.contains(at)).then_some(page)
}

/// Opens a page for this copy of the program alone, at which a thread has stopped. That goes on as if it had been open, to find more such
/// pages; but nothing of it is watched there, so that a thread which waits in a loop is not let wait for long.
///
/// # Errors
/// Where the program has restricted what it may do to its memory. The execution counts for nothing in any case.
pub(crate) fn open(tracee: &mut Tracee, index: ThreadIndex, page: u64) -> Result<(), ExecutionError> {
    let (tid, regs) = (tracee.tasks[index].tid, tracee.tasks[index].regs);
    let is_open = tracee.opened.insert(page) && make_executable(tracee, tid, &regs, (page, PAGE))?;
    if !is_open {
        tracee.knowledge.note_all_reached();
        return Err(BrokenExecution::ClosedCode.into());
    }
    tracee.watch.hurry(true);
    tracee.watch.begin(tracee.leader, tid);
    Ok(())
}

/// Opens all closed code for a process that has just been forked.
pub(crate) fn open_all_for(tracee: &mut Tracee, child: Tid) -> Result<(), ExecutionError> {
    let regs = ptrace::registers(child).map_err(system(SystemAction::ReadRegisters))?;
    let layout = Arc::clone(&tracee.layout);
    let mut runs = layout.closed.runs().iter();
    runs.try_for_each(|run| {
        make_executable(tracee, child, &regs, (run.start, run.end - run.start)).map(|_is_open| ())
    })
}

/// A stopped thread with these registers makes memory executable, and stands where it stood. `false`: it may not, or has ended.
fn make_executable(
    tracee: &mut Tracee,
    tid: Tid,
    regs: &Regs,
    (start, len): (u64, u64),
) -> Result<bool, ExecutionError> {
    let call = Regs {
        rip: tracee.layout.own_call,
        rax: libc::SYS_mprotect as u64,
        orig_rax: u64::MAX,
        rdi: start,
        rsi: len,
        rdx: (libc::PROT_READ | libc::PROT_EXEC) as u64,
        ..*regs
    };
    let blocked = ptrace::block_signals(tid).map_err(system(SystemAction::BlockSignals))?;
    ptrace::set_registers(tid, &call).map_err(system(SystemAction::WriteRegisters))?;
    loop {
        ptrace::resume(tid, 0).map_err(system(SystemAction::ResumeThread))?;
        match tracee.wait_for_report_soon(tid)? {
            WaitStatus::Signal(libc::SIGTRAP) => break,
            WaitStatus::Exited(_) | WaitStatus::Killed(_) => return Ok(false),
            _ => {}
        }
    }
    let result = ptrace::registers(tid).map_err(system(SystemAction::ReadRegisters))?.rax;
    ptrace::set_registers(tid, regs).map_err(system(SystemAction::WriteRegisters))?;
    ptrace::set_blocked_signals(tid, blocked).map_err(system(SystemAction::UnblockSignals))?;
    Ok(result == 0)
}
