//! Processes that the target forks: they stay attached and run, but are not scheduled.

use checker::account::{Unwatched, UnwatchedKind};
use checker::failure::{FailureDetail, FailureKind};
use checker::peculiarity::Peculiarity;
use checker::program::ExecutionError;

use crate::control::kernel::{accesses, process_exit};
use crate::control::loops::overdue;
use crate::control::memory::hidden;
use crate::control::process::Process;
use crate::control::state::account::Account;
use crate::control::state::flow::{Flow, ForkedMemory, WaitResult};
use crate::control::state::memory::MemoryState;
use crate::control::state::scheduling::Scheduling;
use crate::control::state::thread::RunState;
use crate::control::state::thread_index::ThreadIndex;
use crate::control::tracee::{Tracee, closed_code, probes};
use crate::error::{SystemAction, system};
use crate::os::wait::WaitStatus;
use crate::os::{Tid, memory, ptrace};

/// The running thread has forked: the child runs, without the traps if its memory is its own.
pub(crate) fn forked(
    tracee: &mut Tracee,
    scheduling: &Scheduling,
    memory: &mut MemoryState,
    account: &mut Account,
    index: ThreadIndex,
    child_memory: ForkedMemory,
) -> Result<(), ExecutionError> {
    let child =
        ptrace::event_message(tracee.tasks[index].tid).map_err(system(SystemAction::ReadEvent))? as Tid;
    tracee.wait_for_report_soon(child)?;
    if !tracee.layout.closed.is_empty() {
        memory.promoted |= tracee.knowledge.note_all_reached();
        closed_code::open_all_for(tracee, child)?;
    }
    if child_memory == ForkedMemory::Copied {
        // It may meet this process in memory that both have mapped, in files, in pipes.
        account.enter_unwatched(Unwatched::call(UnwatchedKind::Task, "fork"));
        tracee.lift_detours_of(child);
        lift_traps_of(tracee, child);
        hidden::lift(tracee, memory, child);
        probes::lift_from(tracee, child);
        if scheduling.threads.iter().filter(|thread| thread.is_live()).count() > 1 {
            account.left_out = true;
            account.note(Peculiarity::ForksBesideThreads);
        }
    }
    if child_memory == ForkedMemory::Shared {
        // It runs at the same time as other threads, for which the log is not made.
        tracee.end_detours()?;
        accesses::note_heir(tracee, memory, account, index);
        // A `vfork` of the program's own: the child runs the program's code, in the same memory.
        tracee.read_registers(index)?;
        if tracee.tasks[index].regs.orig_rax as i64 == libc::SYS_vfork && scheduling.has_company() {
            account.enter_unwatched(Unwatched::call(UnwatchedKind::Task, "vfork"));
        }
    }
    tracee.started_by = Some(match child_memory {
        ForkedMemory::Copied => "fork",
        ForkedMemory::Shared if tracee.tasks[index].regs.orig_rax as i64 == libc::SYS_vfork => "vfork",
        ForkedMemory::Shared => "posix_spawn",
    });
    // The child may send signals to the process, and its end is one.
    tracee.stop_parked()?;
    tracee.take_no_hand_offs();
    tracee.child_processes.push(child);
    account.note(Peculiarity::StartsProcesses);
    tracee.knowledge.note_external_effects();
    ptrace::resume(child, 0).map_err(system(SystemAction::ResumeChild))
}

fn lift_traps_of(tracee: &Tracee, child: Tid) {
    for (&at, trap) in &tracee.layout.traps {
        if memory::number(child, at, 1) == Some(0xcc) {
            let _ = memory::poke_byte(child, at, trap.byte());
        }
    }
}

/// The target has replaced itself by another program, which runs unscheduled to its end.
pub(crate) fn replaced(
    Process { tracee, scheduling, objects, memory, account }: &mut Process,
) -> Result<Flow, ExecutionError> {
    account.note(Peculiarity::ReplacesItself);
    // The threads of the other program are not scheduled, and those of this one end in the middle of what they do.
    account.enter_unwatched(Unwatched::call(UnwatchedKind::Task, "exec"));
    for thread in scheduling.threads.iter_mut().skip(1) {
        thread.run_state = RunState::Ended;
    }
    tracee.tasks.iter_mut().skip(1).for_each(|task| task.reaped = true);
    scheduling.threads[ThreadIndex::MAIN].run_state = RunState::Ended;
    tracee.gone = true;
    let mut status = WaitStatus::Exec;
    loop {
        match status {
            WaitStatus::Exited(code) => {
                // Once the process has ended, there is no program to be replaced.
                if code != 0 && account.exit_code_fails && !scheduling.exiting {
                    let detail = FailureDetail::ExitCodeOfReplacement(code);
                    let failure =
                        scheduling.failure(ThreadIndex::MAIN, FailureKind::ExitCode, detail, Vec::new());
                    scheduling.threads[ThreadIndex::MAIN].run_state = RunState::Failed(failure);
                }
                return Ok(Flow::Rest);
            }
            WaitStatus::Killed(_) => {
                return process_exit::ended(tracee, scheduling, objects, account, ThreadIndex::MAIN, status);
            }
            _ => tracee.child_process_reported(tracee.leader, status),
        }
        let Some(next) = wait_for_leader(tracee, scheduling, memory, account)? else {
            return Ok(Flow::Rest);
        };
        status = next;
    }
}

/// `None`: its time is over.
fn wait_for_leader(
    tracee: &mut Tracee,
    scheduling: &mut Scheduling,
    memory: &mut MemoryState,
    account: &mut Account,
) -> Result<Option<WaitStatus>, ExecutionError> {
    loop {
        match tracee.wait_for_report(tracee.leader, |_| true)? {
            WaitResult::Report(status) => return Ok(Some(status)),
            WaitResult::Over(reason) => {
                if overdue::interrupted(
                    tracee,
                    scheduling,
                    memory,
                    account,
                    ThreadIndex::MAIN,
                    reason,
                    false,
                )? {
                    return Ok(None);
                }
            }
        }
    }
}
