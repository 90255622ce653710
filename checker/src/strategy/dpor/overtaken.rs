//! The conditions that reversals leave behind: which of an execution's reversals are its own is told from what they put first.
//!
//! A reversal puts g before an operation of e's that the canonical schedule would have run. In the trace that results, g has
//! to be the least of what comes first there and does not commute with e. That is to be seen until e's operation has run,
//! which may be blocked for long: readers that commute with one another keep a writer out.

use serde::{Deserialize, Serialize};

use crate::event::names::{EventId, ThreadName};
use crate::event::operation::{Effect, Op, OpKind};
use crate::event::position::Position;
use crate::hb::vector_clock::ClockRef;
use crate::trace::TraceStep;

/// The order by which the operation that is put first is least: an operation whose outcome may be open comes after all others.
pub(super) type Precedence = (bool, ThreadName);

/// The precedence of an operation.
pub(super) fn precedence(kind: OpKind, thread: ThreadName) -> Precedence {
    (is_open(kind), thread)
}

/// An operation that another one was put before by a reversal.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(in crate::strategy::dpor) struct OvertakenOperation {
    /// The operation.
    pub(super) id: EventId,
    /// Its effect without the other one.
    pub(super) effect: Effect,
    /// The number of events after which it would have run.
    pub(super) from: Position,
    /// The position of the other one.
    pub(super) at: Position,
    /// The least precedence now.
    pub(super) least: Precedence,
}

/// A thread that is about to lock for reading.
pub(super) struct Reader<'a> {
    pub(super) thread: ThreadName,
    pub(super) op: &'a Op,
    /// The thread's event before that.
    pub(super) past: Option<ClockRef<'a>>,
}

impl OvertakenOperation {
    /// Whether a reader would come before the operation as well as the one that was put there, and is less than that. `ran` are
    /// the events since [`OvertakenOperation::from`].
    pub(super) fn keeps_out<'s>(
        &self,
        reader: &Reader<'_>,
        mut ran: impl Iterator<Item = &'s TraceStep>,
        number: impl Fn(ThreadName) -> usize,
    ) -> bool {
        let Reader { thread, op, past } = reader;
        let comes_before = |step: &TraceStep| {
            let EventId { thread, index } = step.event.id;
            let is_past = past.is_some_and(|past| past.get(number(thread)) > index);
            step.event.did.conflicts(&self.effect) && (is_past || step.event.did.conflicts(&op.may))
        };
        precedence(op.kind, *thread) < self.least && op.may.conflicts(&self.effect) && !ran.any(comes_before)
    }

    /// Whether something with this past (by thread: `number`) comes behind an event that does not commute with the operation
    /// either.
    pub(super) fn is_behind(
        &self,
        past: ClockRef<'_>,
        steps: &[TraceStep],
        number: impl Fn(ThreadName) -> usize,
    ) -> bool {
        steps.iter().skip(self.from.count()).any(|step| {
            let EventId { thread, index } = step.event.id;
            step.event.did.conflicts(&self.effect) && past.get(number(thread)) > index
        })
    }
}

/// Whether an operation of this kind does something or nothing, which its events alone do not tell.
pub(super) fn is_open(kind: OpKind) -> bool {
    matches!(kind, OpKind::CompareExchange | OpKind::SemTryWait)
}
