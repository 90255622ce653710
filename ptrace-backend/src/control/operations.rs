//! Operations to which threads come: each becomes the pending one of its thread, with what cancellation and signals add to it.

use checker::names::Obj;
use checker::operation::Access;
use checker::operation::Effect;
use checker::operation::Op;

use crate::control::state::flow::Flow;
use crate::control::state::pending::{Action, Pending, WaitCondition, limited};
use crate::control::state::scheduling::Scheduling;
use crate::control::state::thread_index::ThreadIndex;
use crate::control::tracee::{Tracee, stacks};

/// Adds to what an event of a thread touches what a signal that is sent to it does: whether the signal comes before the
/// event decides where its handler runs, and after the last one it comes too late. Told only where the program sends any.
pub(crate) fn tell_of_signals(
    tracee: &Tracee,
    scheduling: &Scheduling,
    index: ThreadIndex,
    effect: &mut Effect,
) {
    if !tracee.layout.signals {
        return;
    }
    let obj = signals_of(tracee, scheduling, Some(index));
    if effect.accesses.iter().all(|access| access.obj != obj) {
        effect.accesses.push(Access::read(obj));
    }
}

/// The object of events on signals: a thread's signals, or those of the process, which any thread may take.
pub(crate) fn signals_of(tracee: &Tracee, scheduling: &Scheduling, to: Option<ThreadIndex>) -> Obj {
    tracee.knowledge.named(match to {
        Some(thread) => scheduling.threads[thread].name.to_string(),
        None => "the process".to_owned(),
    })
}

/// Makes the system call at which the thread stands its pending operation.
pub(crate) fn pend(
    tracee: &Tracee,
    scheduling: &mut Scheduling,
    index: ThreadIndex,
    op: Op,
    condition: WaitCondition,
    action: Action,
    deadline: Option<u64>,
) -> Flow {
    let site = stacks::user_site(tracee, index);
    let mut op = limited(op, &condition, deadline);
    if matches!(action, Action::Kernel | Action::Sleep(_)) {
        depend_on_cancellation(tracee, scheduling, index, &mut op);
    }
    scheduling.threads[index].pending = Some(Pending { op, site, condition, action, deadline });
    Flow::Rest
}

/// An operation is a cancellation point, or a wait in one.
pub(crate) fn depend_on_cancellation(
    tracee: &Tracee,
    scheduling: &Scheduling,
    index: ThreadIndex,
    op: &mut Op,
) {
    if !is_cancellable(tracee, scheduling, index) {
        return;
    }
    let signals = signals_of(tracee, scheduling, Some(index));
    if op.may.accesses.iter().all(|access| access.obj != signals) {
        op.may.accesses.push(Access::read(signals));
    }
}

/// Of an operation that may be any: only where cancellation takes effect anywhere, it is a cancellation point.
pub(crate) fn depend_if_asynchronous(tracee: &Tracee, scheduling: &mut Scheduling, index: ThreadIndex) {
    if scheduling.threads[index].cancellation.asynchronous
        && let Some(mut pending) = scheduling.threads[index].pending.take()
    {
        depend_on_cancellation(tracee, scheduling, index, &mut pending.op);
        scheduling.threads[index].pending = Some(pending);
    }
}

pub(crate) fn is_cancellable(tracee: &Tracee, scheduling: &Scheduling, index: ThreadIndex) -> bool {
    tracee.layout.cancels && scheduling.threads[index].cancellation.is_possible()
}
