//! Executions in which arrivals at one barrier conflict.

use std::borrow::Cow;

use crate::event::names::{Obj, ObjName, ThreadName};
use crate::event::operation::{Access, Effect, Mode, OpKind};
use crate::trace::Trace;

/// This bit of a name makes it that of something that there is not.
const NOTHING: u64 = 1 << 63;

/// The effect with which arrivals at one barrier conflict: each of them also writes something else.
pub(super) fn effect(of: &Effect) -> Effect {
    let mut strict = of.clone();
    let arrives = |access: &&Access| matches!(access.mode, Mode::Arrive(_));
    let nothing = |obj: Obj| Obj { name: ObjName(obj.name.0 ^ NOTHING), ..obj };
    let more = of.accesses.iter().filter(arrives).map(|access| Access::write(nothing(access.obj)));
    strict.accesses.extend(more);
    strict
}

/// The execution with these effects, and what happened before what.
pub(super) fn trace(run: &Trace) -> Cow<'_, Trace> {
    if run.steps.iter().all(|step| step.event.op.kind != OpKind::BarrierArrive) {
        return Cow::Borrowed(run);
    }
    let mut strict = run.clone();
    for op in
        strict.pending_at_end.iter_mut().filter_map(|pending_at_end| pending_at_end.view.pending.as_mut())
    {
        op.may = effect(&op.may);
    }
    strict.hb.clear();
    for (number, &name) in run.threads.iter().enumerate() {
        if run.hb.born(number).is_none() {
            strict.hb.add_thread(name, None);
        }
    }
    for (at, step) in strict.steps.positions().zip(&mut strict.steps) {
        let event = &mut step.event;
        let done = event.done_mut();
        (done.did, done.op.may) = (effect(&done.did), effect(&done.op.may));
        let number = |name: ThreadName| run.threads.iter().position(|&thread| thread == name);
        if let Some(thread) = number(event.id.thread) {
            strict.hb.push(thread, event, number);
        }
        if let Some(child) = event.op.peer.filter(|_| event.op.kind.creates()) {
            strict.hb.add_thread(child, Some(at));
        }
    }
    Cow::Owned(strict)
}
