//! Questions about an execution: the waiting threads and what they wait for, the values that a thread has looked at, and the
//! threads that have written these since.

use super::{Reason, Trace, TraceStep};
use crate::event::agent::{AgentView, Status};
use crate::event::lock_action::{Hold, LockAction};
use crate::event::names::{Obj, ThreadName};
use crate::event::operation::{Access, OpKind};
use crate::event::position::Position;
use crate::event::wait::BlockedOn;

/// An access of a pattern, in one execution.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ObservedAccess {
    /// The thread whose access it is.
    pub thread: ThreadName,
    /// Whether it writes; else it reads.
    pub writes: bool,
    /// The bytes that it touches and that all accesses of the pattern share with one object.
    pub obj: Obj,
    /// The event's position in the trace.
    pub position: Position,
}

/// Whether a thread was not there any more at the end of an execution.
pub(crate) fn has_ended(trace: &Trace, thread: ThreadName) -> bool {
    !trace.pending_at_end.iter().any(|left| !left.closed && left.view.agent.thread() == thread)
}

/// Whether an event signals a condition variable, to one or to all.
pub(crate) fn is_signal(step: &TraceStep, condition: Obj) -> bool {
    matches!(step.event.op.kind, OpKind::Signal | OpKind::Broadcast) && touches(step, condition)
}

/// Whether a thread arrives at a barrier in an event.
pub(crate) fn is_arrival(step: &TraceStep, barrier: Obj) -> bool {
    step.event.op.kind == OpKind::BarrierArrive && touches(step, barrier)
}

pub(crate) fn is_post(step: &TraceStep, semaphore: Obj) -> bool {
    step.event.did_to(semaphore) == Some(LockAction::Release(Hold::Unit))
}

pub(crate) fn touches(step: &TraceStep, obj: Obj) -> bool {
    step.event.did.accesses.iter().any(|access| access.obj.overlaps(&obj))
}

/// The threads that wait at the end, and what they wait for.
pub(crate) fn blocked(trace: &Trace) -> impl Iterator<Item = (&AgentView, &BlockedOn)> {
    let left = trace.pending_at_end.iter().filter(|left| !left.closed);
    left.filter_map(|left| match &left.view.status {
        Status::Blocked(on) if !left.view.agent.thread().is_timer() => Some((&left.view, on)),
        _ => None,
    })
}

/// Of threads that wait at these condition variables, the first one whose last signal came while no thread waited, with that;
/// of those that wait as they should, only if all do.
pub(crate) fn lost(trace: &Trace, waiting: &[(ThreadName, Obj)]) -> Option<(ThreadName, Obj, Position)> {
    let is_owed =
        |&(thread, condition): &(ThreadName, Obj)| changed_since_look(trace, thread, condition).is_some();
    let owed: Vec<&(ThreadName, Obj)> = waiting.iter().filter(|waiter| is_owed(waiter)).collect();
    let waiting = if owed.is_empty() { waiting.iter().collect() } else { owed };
    waiting
        .into_iter()
        .find_map(|&(thread, condition)| early(trace, condition).map(|signal| (thread, condition, signal)))
}

/// The first write of another thread to what this one had looked at before it began to wait.
pub(crate) fn changed_since_look(
    trace: &Trace,
    thread: ThreadName,
    condition: Obj,
) -> Option<ObservedAccess> {
    let end = trace.steps.end();
    let looks = wait(trace, thread, condition).into_iter().flat_map(|begins| looks(trace, thread, begins));
    let changed = looks.filter_map(|look| written(trace, thread, (look.position, end), &[look.obj]));
    changed.min_by_key(|write| write.position)
}

/// The accesses of a thread since it took a lock last, before an event of its own.
pub(crate) fn looks(
    trace: &Trace,
    thread: ThreadName,
    before: Position,
) -> impl Iterator<Item = ObservedAccess> {
    let own = trace.steps.between(Position::START, before).rev();
    let own = own.filter(move |(_, step)| step.event.id.thread == thread);
    let section = own.take_while(|(_, step)| step.event.acquired() != Some(Hold::Exclusive));
    section.filter(|(_, step)| step.event.op.kind.is_access()).flat_map(move |(position, step)| {
        let accesses = step.event.did.accesses.iter();
        accesses.map(move |access| ObservedAccess { thread, writes: false, obj: access.obj, position })
    })
}

/// The position of the last signal.
pub(crate) fn last_signal(trace: &Trace, condition: Obj) -> Option<Position> {
    trace.steps.rposition(|step| is_signal(step, condition))
}

/// The last signal, if it woke no thread.
pub(crate) fn early(trace: &Trace, condition: Obj) -> Option<Position> {
    last_signal(trace, condition).filter(|&signal| !trace.steps[signal].woke)
}

/// The position at which a thread began to wait for the last time.
pub(crate) fn wait(trace: &Trace, thread: ThreadName, condition: Obj) -> Option<Position> {
    trace.steps.rposition(|step| is_wait(step, thread, condition))
}

pub(crate) fn is_wait(step: &TraceStep, thread: ThreadName, condition: Obj) -> bool {
    step.event.id.thread == thread && step.event.op.kind == OpKind::CondWait && touches(step, condition)
}

/// The first write of another thread to one of these objects between two positions.
pub(crate) fn written(
    trace: &Trace,
    thread: ThreadName,
    (from, to): (Position, Position),
    looks: &[Obj],
) -> Option<ObservedAccess> {
    let between = trace.steps.between(from, to);
    let others = between.filter(|(_, step)| step.event.id.thread != thread && step.event.op.kind.is_access());
    others.into_iter().find_map(|(position, step)| {
        let is_it = |access: &&Access| writes(access) && looks.iter().any(|look| look.overlaps(&access.obj));
        let access = step.event.did.accesses.iter().find(is_it)?;
        Some(ObservedAccess { thread: step.event.id.thread, writes: true, obj: access.obj, position })
    })
}

pub(crate) fn writes(access: &Access) -> bool {
    !access.mode.leaves_as_it_is()
}

/// The words of memory that threads waited for as for locks.
pub(crate) fn lock_words<'t>(traces: impl Iterator<Item = &'t Trace>) -> Vec<Obj> {
    let mut locks = Vec::new();
    for trace in traces {
        let left = trace.pending_at_end.iter().filter_map(|left| match &left.view.status {
            Status::Blocked(on) => Some(on),
            _ => None,
        });
        let blocked = trace.steps.iter().filter_map(|step| match &step.reason {
            Reason::Blocked(_, on) => Some(on),
            _ => None,
        });
        locks.extend(left.chain(blocked).filter_map(|on| match *on {
            BlockedOn::Mutex { obj, .. } | BlockedOn::Read(obj) | BlockedOn::Write(obj) => Some(obj),
            _ => None,
        }));
        locks.sort_unstable();
        locks.dedup();
    }
    locks
}
