//! Critical sections of which one came between two steps of another thread.
//!
//! If the order of two critical sections decides, and the thread of the later one has looked before at what the earlier one
//! writes, it goes on from a stale value: an index into what has moved, a decision that does not hold any more.

use crate::event::lock_action::{Hold, LockAction};
use crate::event::names::{Obj, ThreadName};
use crate::event::operation::{Mode, OpKind};
use crate::event::position::Position;
use crate::explain::swap::{Second, Swap};
use crate::trace::queries::ObservedAccess;
use crate::trace::{Trace, TraceStep};

/// So many events of its own ago a thread may have looked, at the most.
const NEAR: usize = 32;

/// The access in which a thread has read something, the one in which another thread then writes it in its critical section, and
/// the one of the first thread in its own section after that: to the same variable, or else to another one that was written
/// there.
pub(super) fn overtaken(trace: &Trace, swap: Swap) -> Option<[ObservedAccess; 3]> {
    let Second::Event(second) = swap.second else { return None };
    let [theirs, own] = [swap.first, second].map(|begin| section(trace, begin));
    let (theirs, own) = (theirs?, own?);
    let thread = trace.steps[second].event.id.thread;
    let steps = || trace.steps.between(Position::START, swap.first).rev();
    let before = steps().filter(|(_, step)| step.event.id.thread == thread).take(NEAR);
    let looks: Vec<ObservedAccess> =
        before.flat_map(|(at, step)| plain(at, step)).filter(|seen| !seen.writes).collect();
    let written: Vec<ObservedAccess> = theirs.iter().copied().filter(|seen| seen.writes).collect();
    let on_written =
        |look: &ObservedAccess| written.iter().find(|write| write.obj.overlaps(&look.obj)).copied();
    let same = |obj: Obj| own.iter().find(|seen| seen.obj.overlaps(&obj)).copied();
    let other = || own.iter().find(|seen| written.iter().any(|write| write.obj.overlaps(&seen.obj))).copied();
    let stale = looks.iter().filter_map(|look| Some((*look, on_written(look)?)));
    let stale: Vec<(ObservedAccess, ObservedAccess)> = stale.collect();
    let of_same = stale.iter().find_map(|&(look, write)| Some([look, write, same(look.obj)?]));
    of_same.or_else(|| stale.first().and_then(|&(look, write)| Some([look, write, other()?])))
}

/// The accesses of a critical section that begins with this event; `None` if none does.
fn section(trace: &Trace, begin: Position) -> Option<Vec<ObservedAccess>> {
    let first = &trace.steps.at(begin)?.event;
    let hold = first.acquired()?;
    let lock = first.did.accesses.first()?.obj;
    let own = || {
        let later = trace.steps.since(begin.next());
        later.filter(|(_, step)| step.event.id.thread == first.id.thread)
    };
    let gives_back = |step: &TraceStep| step.event.did_to(lock) == Some(LockAction::Release(hold));
    let end = own().find(|(_, step)| gives_back(step));
    // A thread that fails in a section does not post its semaphore. One that never does waits for others by it.
    let posts = |step: &TraceStep| step.event.id.thread == first.id.thread && gives_back(step);
    if end.is_none() && hold == Hold::Unit && !trace.steps.iter().any(posts) {
        return None;
    }
    let inside = own().take_while(|(at, _)| end.is_none_or(|(end, _)| *at < end));
    Some(inside.flat_map(|(at, step)| plain(at, step)).collect())
}

/// The loads and stores of an event. An update that counts tells little: it is right in any order.
fn plain(position: Position, step: &TraceStep) -> impl Iterator<Item = ObservedAccess> {
    let thread: ThreadName = step.event.id.thread;
    let is_plain = matches!(step.event.op.kind, OpKind::Read | OpKind::Write);
    let accesses = step.event.did.accesses.iter().filter(move |_| is_plain);
    accesses.map(move |access| ObservedAccess {
        thread,
        writes: access.mode == Mode::Write,
        obj: access.obj,
        position,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explain::tests::{explained, kind, model};
    use crate::search::Options;

    /// The read of a thread, the write that changes the value, and what the thread does with the stale one.
    fn told(text: &str) -> String {
        let told = explained(text, &Options::default());
        let swap = told.pair.and_then(|pair| pair.swaps.first().copied()).unwrap();
        let seen = overtaken(&told.finding.trace, swap).into_iter().flatten();
        let words = seen.map(|ObservedAccess { thread, writes, obj, .. }| {
            let number = thread.path().first().map_or(1, |last| last + 1);
            format!("{number} {} {}", if writes { "w" } else { "r" }, model(text).name_of(obj).unwrap())
        });
        words.collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn what_was_looked_up_does_not_hold_in_the_next_section() {
        // An index, and the length of what it leads into.
        let other = "let i=1 n=2 | create T2, lock m, r i j, unlock m, lock m, r n, assert j < n, unlock m \
                     | T2: lock m, w i 0, w n 1, unlock m";
        assert_eq!(told(other), "1 r i, 2 w i, 1 r n");
        let same = "create T2, lock m, r n k, unlock m, lock m, r n, assert n == k, unlock m \
                    | T2: lock m, w n 1, unlock m";
        assert_eq!(told(same), "1 r n, 2 w n, 1 r n");
        // It has not looked before.
        let first = "create T2, lock m, r n, assert n == 0, unlock m | T2: lock m, w n 1, unlock m";
        assert_eq!(told(first), "");
    }

    #[test]
    fn a_section_is_begun_by_whatever_takes_its_lock() {
        for (enter, leave) in [
            ("lock m, if 1", "unlock m"),
            ("trylock m, if m", "unlock m"),
            ("wrlock m, if 1", "wrunlock m"),
            ("trywrlock m, if m", "wrunlock m"),
            ("down m, if 1", "up m"),
            ("trydown m, if m", "up m"),
        ] {
            let semaphore = if leave == "up m" { "m=1" } else { "" };
            let text = format!(
                "let i=1 n=2 {semaphore} | create T2, {enter} {{ r i j, {leave} }}, \
                 {enter} {{ r n, assert j < n, {leave} }} | T2: {enter} {{ w i 0, w n 1, {leave} }}"
            );
            assert_eq!(told(&text), "1 r i, 2 w i, 1 r n", "{text}");
        }
    }

    #[test]
    fn a_semaphore_that_somebody_else_posts_begins_no_section() {
        let text = "create T2, create T3, down s, r x a, down s, r x, assert a == x \
                    | T2: up s, w x 1 | T3: up s";
        assert_eq!(kind(&explained(text, &Options::default()).diagnosis), "atomicity", "{text}");
    }

    #[test]
    fn who_updates_and_looks_may_see_what_another_one_has_made_of_it() {
        let ends = "add p 1, r p v, if v == 2 { add f 1 }";
        let text = format!("create T2, {ends}, join T2, r f, assert f != 2 | T2: {ends}");
        assert_eq!(kind(&explained(&text, &Options::default()).diagnosis), "atomicity");
    }
}
