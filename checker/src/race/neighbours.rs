//! Conflicting events that can be neighbours: no third event comes between them in happens-before, so that another
//! linearisation has them side by side.

use crate::event::position::Position;
use crate::hb::{AccessHistories, HappensBefore, Positions};
use crate::trace::Trace;

/// The events so far that race with the one at a position, of this thread.
pub(super) fn races(
    trace: &Trace,
    (thread, at): (usize, Position),
    objects: &AccessHistories,
) -> Vec<Position> {
    let mut before = Positions::new();
    objects.conflicts(&trace.steps[at].event.did, &mut before);
    let hb: &HappensBefore = &trace.hb;
    let own = hb.last_before(thread, at).or_else(|| hb.born(thread));
    let is_other =
        |earlier: Position| trace.steps[earlier].event.id.thread != trace.steps[at].event.id.thread;
    let precedes = |earlier: Position, other: Position| earlier == other || hb.ordered(earlier, other);
    let is_immediate = |earlier: Position| {
        own.is_none_or(|own| !precedes(earlier, own))
            && before.iter().all(|&other| other == earlier || !precedes(earlier, other))
    };
    before.iter().copied().filter(|&e| is_other(e) && is_immediate(e)).collect()
}
