//! The unsupported operations that have shown: those for which what a reversal put somewhere need not stay there ([`super`]).

use rustc_hash::FxHashSet;

use crate::event::lock_action::Hold;
use crate::event::names::Obj;
use crate::event::operation::{Mode, Op, OpKind};
use crate::trace::Trace;

/// Operations of executions for which the argument of bounds does not hold.
#[derive(Clone, PartialEq, Debug, Default)]
pub(in crate::strategy::dpor::reverse) struct UnsupportedOperations {
    /// Such an operation.
    one: bool,
    /// The objects that threads spun on, one each.
    awaited: FxHashSet<Obj>,
    /// The objects that were written.
    written: FxHashSet<Obj>,
}

impl UnsupportedOperations {
    /// The operations that an execution has shown.
    pub(in crate::strategy::dpor::reverse) fn of(run: &Trace) -> Self {
        let mut shown = Self::default();
        operations(run).for_each(|op| shown.look_at(op));
        shown
    }

    fn look_at(&mut self, op: &Op) {
        self.one |= is_unsupported(op);
        for access in &op.may.accesses {
            if op.kind == OpKind::Await {
                self.awaited.insert(access.obj);
            } else if access.mode == Mode::Write {
                self.written.insert(access.obj);
            }
        }
    }

    /// Takes in what another execution has shown.
    pub(in crate::strategy::dpor::reverse) fn take_in(&mut self, more: &Self) {
        self.one |= more.one;
        self.awaited.extend(&more.awaited);
        self.written.extend(&more.written);
    }

    /// Whether there is such an operation. A spin loop is one if something that it waits for is written in parts: then two
    /// writes that commute both decide whether it goes on.
    pub(in crate::strategy::dpor::reverse) fn any(&self) -> bool {
        let is_torn = |awaited: &Obj| self.written.iter().any(|written| tears(written, awaited));
        self.one || self.awaited.iter().any(is_torn)
    }
}

/// All that threads did and were about to do.
fn operations(run: &Trace) -> impl Iterator<Item = &Op> {
    let ran = run.steps.iter().map(|step| &step.event.op);
    ran.chain(run.pending_at_end.iter().filter_map(|pending_at_end| pending_at_end.view.pending.as_ref()))
}

/// Whether more orders look like linearisations of an execution than can be run, and cost less than it does: a thread waits
/// for any of several objects, so that what it does depends on more than its own events.
pub(in crate::strategy::dpor::reverse) fn has_false_orders(run: &Trace) -> bool {
    operations(run).any(waits_for_any)
}

/// Readers that keep a writer out together, time limits, timers, and waits for any of several objects.
fn is_unsupported(op: &Op) -> bool {
    let of_kind =
        matches!(op.kind, OpKind::Timeout | OpKind::Expire) || op.kind.acquires() == Some(Hold::Shared);
    of_kind || op.limit.is_some() || waits_for_any(op)
}

/// Whether an operation waits for any of several objects, of which no event tells whether it can go on.
fn waits_for_any(op: &Op) -> bool {
    matches!(op.kind, OpKind::Await | OpKind::SignalWait | OpKind::Io) && op.may.accesses.len() > 1
}

/// Whether a write leaves a part of an object as it was.
fn tears(written: &Obj, object: &Obj) -> bool {
    let end = |obj: &Obj| u64::from(obj.offset) + u64::from(obj.len);
    written.overlaps(object) && (written.offset > object.offset || end(written) < end(object))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::names::ObjName;
    use crate::event::operation::{Access, Effect};

    fn obj(offset: u32, len: u32) -> Obj {
        Obj { name: ObjName(7), offset, len }
    }

    fn shown(ops: &[Op]) -> UnsupportedOperations {
        let mut shown = UnsupportedOperations::default();
        ops.iter().for_each(|op| shown.look_at(op));
        shown
    }

    #[test]
    fn a_spin_loop_over_what_is_written_in_parts_is_unsupported_wherever_either_has_shown() {
        let waits = shown(&[Op::new(OpKind::Await, [Access::read(obj(0, 8))])]);
        let writes = |offset, len| shown(&[Op::new(OpKind::Write, [Access::write(obj(offset, len))])]);
        for (part, unsupported) in
            [((0, 4), true), ((4, 4), true), ((0, 8), false), ((0, 16), false), ((8, 4), false)]
        {
            let mut both = writes(part.0, part.1);
            assert!(!both.any());
            both.take_in(&waits);
            assert_eq!(both.any(), unsupported, "{part:?}");
        }
    }

    #[test]
    fn waits_for_several_objects_and_time_limits_are_unsupported() {
        let two = [Access::read(obj(0, 4)), Access::read(obj(4, 4))];
        assert!(shown(&[Op::new(OpKind::Await, two)]).any());
        assert!(!shown(&[Op::new(OpKind::Update, two)]).any());
        let mut lock = Op::new(OpKind::Lock, [Access::write(obj(0, 4))]);
        assert!(!shown(std::slice::from_ref(&lock)).any());
        lock.limit = Some(Effect::on([Access::read(obj(0, 4))]));
        assert!(shown(&[lock]).any());
    }
}
