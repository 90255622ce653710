//! A thread that runs on without coming to a key point for as long as it may, or for longer than anything may last.

use checker::failure::FailureDetail;
use checker::failure::FailureKind;
use checker::operation::{Access, Op, OpKind};
use checker::program::ExecutionError;
use checker::refusal::UnsupportedFeature;

use crate::control::loops::livelock_probe::RepeatedState;
use crate::control::loops::{livelock_probe, rehearsal, spin};
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
use crate::error::{SystemAction, system};
use crate::os::wait::WaitStatus;
use crate::os::{process, ptrace};

/// The longest round of a loop for which a thread is looked at before its time is over, in instructions.
const SHORT: u32 = 200;

/// Waits for the running thread, looking after all others. `None`: its time is over, or it goes round without an end.
pub(crate) fn wait(
    tracee: &mut Tracee,
    scheduling: &mut Scheduling,
    memory: &mut MemoryState,
    account: &mut Account,
    index: ThreadIndex,
) -> Result<Option<WaitStatus>, ExecutionError> {
    loop {
        tracee.watch.begin_looks();
        let heard = tracee.wait_for_running(index, |_| true);
        tracee.watch.end_looks();
        let heard = match heard? {
            WaitResult::Over(Reason::RunsLong) => look(tracee, scheduling, memory, index)?,
            heard => Look::Heard(heard),
        };
        let is_over = match heard {
            Look::Heard(WaitResult::Report(status)) => return Ok(Some(status)),
            Look::Heard(WaitResult::Over(reason)) => {
                interrupted(tracee, scheduling, memory, account, index, reason, true)?
            }
            Look::GoesRound => waits_in_circle(tracee, scheduling, memory, account, index)?,
            Look::Nothing => false,
        };
        if is_over {
            return Ok(None);
        }
    }
}

/// The result of a look at the running thread.
enum Look {
    /// This was heard of it meanwhile.
    Heard(WaitResult),
    /// It seems to go round without an end, and is stopped.
    GoesRound,
    /// It runs on.
    Nothing,
}

/// Looks at the running thread, which has not stopped for a moment, long before its time is over. What comes of that does not depend on
/// the time at which it is done: nothing but the thread itself could change what it does.
fn look(
    tracee: &mut Tracee,
    scheduling: &Scheduling,
    memory: &MemoryState,
    index: ThreadIndex,
) -> Result<Look, ExecutionError> {
    tracee.watch.looked(false);
    let tid = tracee.tasks[index].tid;
    // An interrupt would cut short a system call.
    if !process::is_runnable(tid) || ptrace::interrupt(tid).is_err() {
        tracee.expect_reports(index);
        return Ok(Look::Nothing);
    }
    match tracee.wait_for_report(tid, |_| true)? {
        WaitResult::Report(WaitStatus::Stopped) => {}
        heard => return Ok(Look::Heard(heard)),
    }
    if !tracee.has_handed_over() && !scheduling.threads[index].cancellation.asynchronous {
        let regs = ptrace::registers(tid).map_err(system(SystemAction::ReadRegisters))?;
        // A step inside a system call would go on with that.
        let is_inside_call = regs.orig_rax as i64 >= 0;
        let before = std::mem::replace(&mut tracee.tasks[index].regs, regs);
        let goes_round = !is_inside_call && rehearsal::goes_round_alone(tracee, memory, index, SHORT);
        tracee.tasks[index].regs = before;
        if goes_round {
            return Ok(Look::GoesRound);
        }
    }
    tracee.expect_reports(index);
    match ptrace::resume(tid, 0) {
        Err(error) if error.raw_os_error() != Some(libc::ESRCH) => {
            Err(system(SystemAction::ResumeThread)(error))
        }
        _ => Ok(Look::Nothing),
    }
}

/// The running thread, which is stopped, seems to go round without an end. `true`: it does, and waits or fails; else it runs on.
fn waits_in_circle(
    tracee: &mut Tracee,
    scheduling: &mut Scheduling,
    memory: &mut MemoryState,
    account: &mut Account,
    index: ThreadIndex,
) -> Result<bool, ExecutionError> {
    leave_detours(tracee, scheduling, memory, account, index)?;
    let circle = livelock_probe::goes_round(tracee, scheduling, memory, index)?;
    if let Some(circle) = circle {
        stay_in(tracee, scheduling, memory, index, &circle);
        return Ok(true);
    }
    tracee.watch.looked(true);
    tracee.resume(index, 0)?;
    Ok(false)
}

/// From here on a thread, which was stopped in the midst of its code, can be stepped.
fn leave_detours(
    tracee: &mut Tracee,
    scheduling: &mut Scheduling,
    memory: &mut MemoryState,
    account: &mut Account,
    index: ThreadIndex,
) -> Result<(), ExecutionError> {
    if let Ok(regs) = ptrace::registers(tracee.tasks[index].tid) {
        logged_accesses::note(tracee, scheduling, memory, account, index)?;
        tracee.tasks[index].regs = regs;
        tracee.step_out_of_copy(index)?;
        tracee.leave_detour(index)?;
        tracee.end_detours()?;
    }
    Ok(())
}

/// A thread goes round in a circle, at whose first place it stands: it waits there for a change of what it looks at, gives way to a timer,
/// or never ends.
fn stay_in(
    tracee: &Tracee,
    scheduling: &mut Scheduling,
    memory: &MemoryState,
    index: ThreadIndex,
    circle: &RepeatedState,
) {
    let (op, condition) = if !circle.looks.is_empty() {
        let awaited = circle.looks.iter().map(|&look| spin::awaited(tracee, memory, index, look));
        let awaited: Vec<AwaitedBytes> = awaited.collect();
        let accesses = awaited.iter().filter(|it| tracee.knowledge.is_shared(it.object));
        let accesses: Vec<Access> = accesses.map(|it| Access::read(it.object)).collect();
        (Op::new(OpKind::Await, accesses), WaitCondition::Change(awaited))
    } else if expiry::may_interrupt(tracee, scheduling) {
        (Op::new(OpKind::SliceEnd, []), WaitCondition::Nothing)
    } else {
        let stack = stacks::stack(tracee, index);
        let failure = scheduling.failure(index, FailureKind::Livelock, FailureDetail::GoesRound, stack);
        scheduling.threads[index].run_state = RunState::Failed(failure);
        return;
    };
    operations::pend(tracee, scheduling, index, op, condition, Action::GoOn, None);
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
    leave_detours(tracee, scheduling, memory, account, index)?;
    let is_between = runs && matches!(stop, Some(WaitResult::Report(WaitStatus::Stopped)));
    let circle = match is_between {
        true => livelock_probe::goes_round(tracee, scheduling, memory, index)?,
        false => None,
    };
    if let Some(circle) = circle {
        stay_in(tracee, scheduling, memory, index, &circle);
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
