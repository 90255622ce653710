//! A thread that runs on without coming to a key point for as long as it may, or for longer than anything may last.

use checker::failure::FailureDetail;
use checker::failure::FailureKind;
use checker::operation::{Access, Op, OpKind};
use checker::program::ExecutionError;
use checker::refusal::UnsupportedFeature;

use crate::control::loops::{livelock_probe, spin};
use crate::control::memory::logged_accesses;
use crate::control::state::account::Account;
use crate::control::state::flow::WaitResult;
use crate::control::state::memory::MemoryState;
use crate::control::state::pending::{Action, AwaitedBytes, WaitCondition};
use crate::control::state::scheduling::Scheduling;
use crate::control::state::thread::RunState;
use crate::control::state::thread_index::ThreadIndex;
use crate::control::tracee::{Tracee, stacks};
use crate::control::watchdog::Reason;
use crate::control::{expiry, operations};
use crate::os::ptrace;
use crate::os::wait::WaitStatus;

/// Waits for the running thread, looking after all others. `None`: its time is over.
pub(crate) fn wait(
    tracee: &mut Tracee,
    scheduling: &mut Scheduling,
    memory: &mut MemoryState,
    account: &mut Account,
    index: ThreadIndex,
) -> Result<Option<WaitStatus>, ExecutionError> {
    loop {
        match tracee.wait_for_running(index, |_| true)? {
            WaitResult::Report(status) => return Ok(Some(status)),
            WaitResult::Over(reason) => {
                if interrupted(tracee, scheduling, memory, account, index, reason, true)? {
                    return Ok(None);
                }
            }
        }
    }
}

/// The running thread may not go on, and is stopped. `true`: it ran for too long, and is taken for failed, or gives way in its loop to
/// a timer. `runs`: the thread was let run; otherwise it is the program that has taken its place.
pub(crate) fn interrupted(
    tracee: &mut Tracee,
    scheduling: &mut Scheduling,
    memory: &mut MemoryState,
    account: &mut Account,
    index: ThreadIndex,
    reason: Reason,
    runs: bool,
) -> Result<bool, ExecutionError> {
    if let Some(error) = reason.ends_everything() {
        tracee.gone = true;
        return Err(error);
    }
    let tid = tracee.tasks[index].tid;
    tracee.watch.begin_wait();
    // If the kernel does not let it stop, as while a process that shares its memory runs, it is not waited for.
    let stop = match ptrace::interrupt(tid) {
        Ok(()) => Some(tracee.wait_for_report(tid, |_| true)?),
        Err(_) => None,
    };
    if let Some(WaitResult::Over(reason)) = stop
        && let Some(error) = reason.ends_everything()
    {
        tracee.gone = true;
        return Err(error);
    }
    if let Ok(regs) = ptrace::registers(tid) {
        logged_accesses::note(tracee, scheduling, memory, account, index)?;
        tracee.tasks[index].regs = regs;
        // It is stepped from here on.
        tracee.step_out_of_copy(index)?;
        tracee.leave_detour(index)?;
        tracee.end_detours()?;
    }
    let is_between = runs && matches!(stop, Some(WaitResult::Report(WaitStatus::Stopped)));
    let circle = match is_between {
        true => livelock_probe::goes_round(tracee, scheduling, memory, index)?,
        false => None,
    };
    if let Some(circle) = circle {
        if !circle.looks.is_empty() {
            let awaited = circle.looks.iter().map(|&look| spin::awaited(tracee, memory, index, look));
            let awaited: Vec<AwaitedBytes> = awaited.collect();
            let accesses = awaited.iter().filter(|it| tracee.knowledge.is_shared(it.object));
            let op = Op::new(OpKind::Await, accesses.map(|it| Access::read(it.object)).collect::<Vec<_>>());
            operations::pend(
                tracee,
                scheduling,
                index,
                op,
                WaitCondition::Change(awaited),
                Action::GoOn,
                None,
            );
            return Ok(true);
        }
        if expiry::may_interrupt(tracee, scheduling) {
            let op = Op::new(OpKind::SliceEnd, []);
            operations::pend(tracee, scheduling, index, op, WaitCondition::Nothing, Action::GoOn, None);
            return Ok(true);
        }
        let stack = stacks::stack(tracee, index);
        let failure = scheduling.failure(index, FailureKind::Livelock, FailureDetail::GoesRound, stack);
        scheduling.threads[index].run_state = RunState::Failed(failure);
        return Ok(true);
    }
    if is_between && livelock_probe::learns_from_runaway(tracee, scheduling, memory, account, index)? {
        tracee.resume(index, 0)?;
        return Ok(false);
    }
    let stack = stacks::stack(tracee, index);
    tracee.gone = true;
    if scheduling.threads[index].cancellation.asynchronous {
        let name = scheduling.threads[index].name;
        return Err(UnsupportedFeature::AsynchronousCancellation(name).into());
    }
    let failure = scheduling.failure(index, FailureKind::Timeout, FailureDetail::NoKeyPoint, stack);
    scheduling.threads[index].run_state = RunState::Failed(failure);
    Ok(true)
}
