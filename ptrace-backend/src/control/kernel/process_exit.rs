//! The end of the main thread while others go on: `pthread_exit` in `main`, its cancellation, or the bare system call.
//!
//! Once it is gone, the kernel neither reports that nor gives access to memory and files through its number. So it is held
//! where it ends, until the process does, and what its end changes in memory is changed here.

use checker::failure::FailureDetail;
use checker::failure::FailureKind;
use checker::failure::SignalOrigin;
use checker::names::Site;
use checker::program::ExecutionError;

use crate::control::kernel::signals;
use crate::control::process::Process;
use crate::control::state::account::Account;
use crate::control::state::flow::Flow;
use crate::control::state::scheduling::Scheduling;
use crate::control::state::sync_objects::Objects;
use crate::control::state::thread::RunState;
use crate::control::state::thread_index::ThreadIndex;
use crate::control::sync::{futexes, thread_end};
use crate::control::tracee::{Tracee, stacks};
use crate::error::{SystemAction, system};
use crate::os::wait::WaitStatus;
use crate::os::{Tid, ptrace};

/// A thread or the whole process is gone.
pub(crate) fn ended(
    tracee: &mut Tracee,
    scheduling: &mut Scheduling,
    objects: &mut Objects,
    account: &Account,
    index: ThreadIndex,
    status: WaitStatus,
) -> Result<Flow, ExecutionError> {
    scheduling.threads[index].run_state = RunState::Ended;
    tracee.tasks[index].reaped = true;
    match status {
        WaitStatus::Killed(signal) => {
            tracee.gone = true;
            let signal = crate::os::signal_names::name(signal);
            let detail = FailureDetail::Signal { signal, origin: SignalOrigin::Outside };
            scheduling.threads[index].run_state =
                RunState::Failed(scheduling.failure(index, FailureKind::Crash, detail, Vec::new()));
        }
        // The only thread, by the bare system call: the kernel reports no end of a main thread that leaves others.
        WaitStatus::Exited(code) if index.is_main() => {
            tracee.gone = true;
            exit_with(tracee, scheduling, account, index, code, Vec::new());
        }
        _ => end_if_deserted(tracee, scheduling, account)?,
    }
    futexes::wake_changed(tracee, scheduling, objects, index);
    Ok(Flow::Rest)
}

/// A thread has created another one, which stands at its beginning: from now on the main thread is to stop where it
/// ends, however it does, and no other thread is.
pub(crate) fn watch_leader(
    tracee: &mut Tracee,
    creator: ThreadIndex,
    created: Tid,
) -> Result<(), ExecutionError> {
    let failed = || system(SystemAction::TraceThreadEnd);
    if !tracee.leader_stops_at_exit {
        tracee.leader_stops_at_exit = true;
        ptrace::stop_at_exit(tracee.leader, true).map_err(failed())
    } else if creator.is_main() {
        ptrace::stop_at_exit(created, false).map_err(failed())
    } else {
        Ok(())
    }
}

/// A thread stands where it ends, which it does unless something of that is an event. The main thread stays there, but for a
/// process that a signal ends.
pub(crate) fn exited(
    Process { tracee, scheduling, objects, memory, account }: &mut Process,
    index: ThreadIndex,
) -> Result<Flow, ExecutionError> {
    /// Of the status that a process ends with.
    const SIGNAL: u64 = 0x7f;
    let status = ptrace::event_message(tracee.tasks[index].tid).map_err(system(SystemAction::ReadEvent))?;
    if status & SIGNAL != 0 {
        return Ok(Flow::Resume(0));
    }
    tracee.read_registers(index)?;
    if thread_end::rests(tracee, scheduling, objects, memory, index) {
        return Ok(Flow::Rest);
    }
    if !index.is_main() {
        return Ok(Flow::Resume(0));
    }
    leave_process(tracee, scheduling, objects, account)?;
    Ok(Flow::Rest)
}

/// The main thread has ended, whatever the others do.
pub(crate) fn leave_process(
    tracee: &mut Tracee,
    scheduling: &mut Scheduling,
    objects: &mut Objects,
    account: &Account,
) -> Result<(), ExecutionError> {
    tracee.left_from = Some(stacks::stack(tracee, ThreadIndex::MAIN));
    scheduling.threads[ThreadIndex::MAIN].run_state = RunState::Ended;
    if let Some(word) = tracee.tasks[ThreadIndex::MAIN].tid_word {
        tracee.write(word, &0_u32.to_le_bytes());
    }
    end_if_deserted(tracee, scheduling, account)?;
    futexes::wake_changed(tracee, scheduling, objects, ThreadIndex::MAIN);
    Ok(())
}

fn wait_for_end_of_leader(tracee: &mut Tracee) -> Result<WaitStatus, ExecutionError> {
    loop {
        let status = tracee.wait_for_report_soon(tracee.leader)?;
        if matches!(status, WaitStatus::Exited(_) | WaitStatus::Killed(_)) {
            return Ok(status);
        }
        ptrace::resume(tracee.leader, 0).map_err(system(SystemAction::LetMainThreadEnd))?;
    }
}

/// Lets the process end once the main thread has left and all others are gone. Its exit code comes from the kernel: since Linux
/// 5.17 it is that of the thread that ended last, in earlier versions that of the main thread.
fn end_if_deserted(
    tracee: &mut Tracee,
    scheduling: &mut Scheduling,
    account: &Account,
) -> Result<(), ExecutionError> {
    if tracee.tasks.iter().skip(1).all(|task| task.reaped)
        && let Some(stack) = tracee.left_from.take()
    {
        ptrace::resume(tracee.leader, 0).map_err(system(SystemAction::LetMainThreadEnd))?;
        let status = wait_for_end_of_leader(tracee)?;
        tracee.tasks[ThreadIndex::MAIN].reaped = true;
        tracee.gone = true;
        if let WaitStatus::Exited(code) = status {
            exit_with(tracee, scheduling, account, ThreadIndex::MAIN, code, stack);
        }
    }
    Ok(())
}

/// The process is to end: the thread is held there, and the others run on.
pub(crate) fn exit_group(
    tracee: &Tracee,
    scheduling: &mut Scheduling,
    account: &Account,
    index: ThreadIndex,
) -> Flow {
    let code = tracee.tasks[index].regs.rdi as i32 & 0xff;
    scheduling.exiting = true;
    let stack = if code == 0 { Vec::new() } else { stacks::stack(tracee, index) };
    exit_with(tracee, scheduling, account, index, code, stack);
    Flow::Rest
}

/// The process ends with this code, for what this thread did, with this stack.
fn exit_with(
    tracee: &Tracee,
    scheduling: &mut Scheduling,
    account: &Account,
    index: ThreadIndex,
    code: i32,
    stack: Vec<Site>,
) {
    scheduling.threads[index].run_state = RunState::Ended;
    if code != 0 && account.exit_code_fails {
        let failure = if let Some((thread, stack)) = account.first_panic.clone() {
            let mut failure =
                scheduling.failure(index, FailureKind::Panic, signals::fatal::panic_detail(tracee), stack);
            failure.thread = Some(thread);
            failure
        } else {
            scheduling.failure(index, FailureKind::ExitCode, FailureDetail::ExitCode(code), stack)
        };
        scheduling.threads[index].run_state = RunState::Failed(failure);
    }
}
