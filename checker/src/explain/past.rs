//! How two threads came past a lock of the program's own that should have kept one of them out.
//!
//! Such a lock is a variable that threads spin on. Both have come past it where one has seen it free, the other one takes
//! it, and the first one takes it as well without having looked again.

use super::evidence::Evidence;
use super::falcon::Seen;
use crate::names::Obj;
use crate::op::OpKind;
use crate::trace::Trace;

/// The read and the two writes by which the threads of a pattern came past a lock, if every failing execution has such and not
/// every other one.
pub(super) fn past(told: &[Seen], trace: &Trace, evidence: &Evidence) -> Option<[Seen; 3]> {
    let traces = || std::iter::once(trace).chain(&evidence.failing).chain(&evidence.passing);
    let mut locks: Vec<Obj> = traces().flat_map(|trace| trace.spun_on.iter().copied()).collect();
    locks.sort_unstable();
    locks.dedup();
    locks.into_iter().find_map(|lock| {
        let touches = touches(trace, lock);
        let found = entries(&touches).find(|entry| is_around(told, &touches, entry))?;
        let enters = |trace: &Trace| entries(&self::touches(trace, lock)).next().is_some();
        (evidence.failing.iter().all(enters) && !evidence.passing.iter().all(enters)).then_some(found)
    })
}

/// What is done to a lock, and whether it is done without looking.
fn touches(trace: &Trace, lock: Obj) -> Vec<(Seen, bool)> {
    let steps = (0..).zip(&trace.steps);
    let of_step = |(position, step): (u32, &crate::trace::TraceStep)| {
        let event = &step.event;
        let access = event.did.accesses.iter().find(|access| access.obj.overlaps(&lock))?;
        let writes = !access.mode.leaves_as_it_is();
        // Compilers store with an exchange whose result nobody looks at.
        let is_blind = matches!(event.op.kind, OpKind::Write | OpKind::Update);
        Some((Seen { thread: event.id.thread, writes, obj: access.obj, position }, is_blind))
    };
    steps.filter_map(of_step).collect()
}

/// Where a thread that has read the lock writes it, and another thread has written it in between, once: who has written
/// twice has left again.
fn entries(touches: &[(Seen, bool)]) -> impl Iterator<Item = [Seen; 3]> {
    touches.iter().enumerate().filter_map(|(at, &(late, is_blind))| {
        let looked = touches[..at].iter().rposition(|(seen, _)| seen.thread == late.thread)?;
        let mut others = touches[looked..at].iter().map(|(seen, _)| *seen).filter(|seen| seen.writes);
        let look = touches[looked].0;
        let first = others.next()?;
        (is_blind && late.writes && !look.writes && others.next().is_none()).then_some([look, first, late])
    })
}

/// Whether both threads of a pattern access its object behind the lock: after they have written it, before they touch it
/// again.
fn is_around(told: &[Seen], touches: &[(Seen, bool)], [_, first, late]: &[Seen; 3]) -> bool {
    [first, late].into_iter().all(|entry| {
        let mut own = touches.iter().map(|(seen, _)| seen).filter(|seen| seen.thread == entry.thread);
        let left = own.find(|seen| seen.position > entry.position).map_or(u32::MAX, |seen| seen.position);
        let is_inside =
            |seen: &&Seen| seen.thread == entry.thread && (entry.position..left).contains(&seen.position);
        told.iter().filter(is_inside).any(|seen| !seen.obj.overlaps(&entry.obj))
    })
}
