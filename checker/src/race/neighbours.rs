//! Conflicting events that can be neighbours: no third event comes between them in happens-before, so that another
//! linearisation has them side by side.

use crate::hb::{HappensBefore, Objects, Positions};
use crate::trace::Trace;

/// The events so far that race with the one at a position, of this thread.
pub(super) fn races(trace: &Trace, (thread, at): (usize, usize), objects: &Objects) -> Vec<usize> {
    let mut before = Positions::new();
    objects.conflicts(&trace.steps[at].event.did, &mut before);
    let hb: &HappensBefore = &trace.hb;
    let own = hb.last_before(thread, at as u32).or_else(|| hb.born(thread));
    let is_other =
        |earlier: u32| trace.steps[earlier as usize].event.id.thread != trace.steps[at].event.id.thread;
    let precedes =
        |earlier: u32, other: u32| earlier == other || hb.ordered(earlier as usize, other as usize);
    let is_immediate = |earlier: u32| {
        own.is_none_or(|own| !precedes(earlier, own))
            && before.iter().all(|&other| other == earlier || !precedes(earlier, other))
    };
    before.iter().copied().filter(|&e| is_other(e) && is_immediate(e)).map(|e| e as usize).collect()
}
