//! Cancellation: a thread is cancelled where it looks whether it is, or waits. Each such place depends on `pthread_cancel` of
//! its thread, whether that has been called or not.

use checker::account::{Unwatched, UnwatchedKind};
use checker::names::EventId;
use checker::operation::{Access, Effect, Op, OpKind};
use checker::peculiarity::Peculiarity;

use crate::control::operations;
use crate::control::state::account::Account;
use crate::control::state::memory::MemoryState;
use crate::control::state::pending::{Action, Pending, WaitCondition};
use crate::control::state::scheduling::Scheduling;
use crate::control::state::sync_objects::Objects;
use crate::control::state::thread::WaitEnd;
use crate::control::state::thread_index::ThreadIndex;
use crate::control::sync::queues::dequeue;
use crate::control::tracee::{Tracee, stacks};
use crate::layout::functions::TrappedFunction;
use crate::layout::{Trap, TrapKind};

/// `pthread_cancel` of the thread with this handle, as this event: a wait of it that is a cancellation point ends.
pub(crate) fn cancel(
    tracee: &Tracee,
    scheduling: &mut Scheduling,
    objects: &mut Objects,
    account: &mut Account,
    handle: u64,
    id: EventId,
) {
    end_condition_wait(tracee, scheduling, objects, handle, id);
    if let Some(index) = tracee.tasks.rposition(|task| task.handle == handle) {
        scheduling.threads[index].cancellation.requested = true;
    }
    let is_look =
        |trap: &Trap| matches!(trap.kind, TrapKind::Function { function: TrappedFunction::Look, .. });
    account.note(if tracee.layout.traps.values().any(is_look) {
        Peculiarity::CancelsThreadsAtKeyPoints
    } else {
        Peculiarity::CancelsThreads
    });
}

/// A thread that is cancelled while it waits at a condition variable is none of its waiters any longer: what is signalled
/// from then on is for others.
fn end_condition_wait(
    tracee: &Tracee,
    scheduling: &mut Scheduling,
    objects: &mut Objects,
    handle: u64,
    id: EventId,
) {
    let Some((index, cond)) = condition_wait(tracee, scheduling, handle) else { return };
    let thread = &mut scheduling.threads[index];
    if let Some(pending @ Pending { condition: WaitCondition::Signal(_), .. }) = &mut thread.pending
        && let Action::Reacquire { mutex, .. } = pending.action
    {
        pending.become_cancelled(mutex);
        thread.woken_by = Some(id);
        thread.cancellation.acts = true;
        dequeue(objects.conds.get_mut(&cond), index);
    }
}

/// The thread with this handle, and the condition variable that it has waited for or still does, if cancelling it could end
/// that.
fn condition_wait(tracee: &Tracee, scheduling: &Scheduling, handle: u64) -> Option<(ThreadIndex, u64)> {
    let index = tracee.tasks.rposition(|task| task.handle == handle)?;
    let thread = &scheduling.threads[index];
    let may_end = thread.is_live() && thread.cancellation.is_possible();
    match thread.pending.as_ref().filter(|_| may_end)? {
        Pending { action: Action::Reacquire { cond, of_rust: false, .. }, .. } => Some((index, *cond)),
        _ => None,
    }
}

/// Adds the condition variable at which the cancelled thread waits, or from which it is coming back, to the effect of
/// cancelling it: the order of the cancellation and the signal has decided which of the two it is.
pub(crate) fn tell_of_cancelled_wait(
    tracee: &Tracee,
    scheduling: &Scheduling,
    memory: &MemoryState,
    action: &Action,
    effect: &mut Effect,
) {
    if let Action::Function { function: TrappedFunction::Cancel, object: handle, .. } = *action
        && let Some((_, cond)) = condition_wait(tracee, scheduling, handle)
    {
        effect.accesses.push(Access::write(memory.object(cond, 1)));
    }
}

/// `pthread_testcancel`: what others see of it is that the thread gives way, for its loop ends by their doing.
pub(crate) fn test_cancel(
    tracee: &Tracee,
    scheduling: &mut Scheduling,
    index: ThreadIndex,
    caller: u64,
) -> bool {
    if !tracee.is_scheduled(index) {
        return false;
    }
    let op = Op::new(OpKind::Yield, [Access::read(operations::signals_of(tracee, scheduling, Some(index)))]);
    let action = Action::Function { function: TrappedFunction::TestCancel, object: 0, timed_out: 0 };
    let site = stacks::call_site(tracee, index, caller);
    scheduling.threads[index].pending =
        Some(Pending { op, site, condition: WaitCondition::Nothing, action, deadline: None });
    true
}

/// `pthread_setcancelstate` and `pthread_setcanceltype`, called by whatever code.
pub(crate) fn set_cancellation(
    tracee: &Tracee,
    scheduling: &mut Scheduling,
    account: &mut Account,
    index: ThreadIndex,
    function: TrappedFunction,
) {
    let thread = &mut scheduling.threads[index];
    // Another argument is an error.
    let value = match tracee.tasks[index].argument(0) as i32 {
        0 => false,
        1 => true,
        _ => return,
    };
    match function {
        TrappedFunction::CancelState => thread.cancellation.disabled = value,
        _ => thread.cancellation.asynchronous = value,
    }
    if function == TrappedFunction::CancelType && value {
        account.enter_unwatched(Unwatched::of(UnwatchedKind::AsynchronousCancellation));
    }
}

/// The thread comes to where the C library looks whether it is cancelled. `false`: it will not be.
pub(crate) fn may_end_here(tracee: &Tracee, scheduling: &mut Scheduling, index: ThreadIndex) -> bool {
    // Injected calls, and waits that a signal has ended, belong to an operation that has been accounted for.
    if !tracee.is_scheduled(index)
        || tracee.tasks[index].calling.is_some()
        || matches!(scheduling.threads[index].ends_wait, Some(WaitEnd::Signal { .. }))
        || !operations::is_cancellable(tracee, scheduling, index)
    {
        return false;
    }
    let op =
        Op::new(OpKind::CancelPoint, [Access::read(operations::signals_of(tracee, scheduling, Some(index)))]);
    let action = Action::Function { function: TrappedFunction::Look, object: 0, timed_out: 0 };
    operations::pend(tracee, scheduling, index, op, WaitCondition::Nothing, action, None);
    true
}
