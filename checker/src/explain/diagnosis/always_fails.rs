//! The cause for which an execution fails, as far as it tells that by itself: nothing to compare it with ends well.
//!
//! The waits at the end, and the holders of locks by then, are facts of the one execution. The claim that something came too
//! early is none: another order would have failed as well, unless nothing could have come in that order. A semaphore is not
//! taken for a lock, which only executions that end well show.

use super::cause::{AwaitedAction, Cause, WaitingThread};
use super::lock_state::would;
use super::use_after_free::life;
use super::wait_for::{circling, entangled, links};
use crate::event::failure::{Failure, FailureKind};
use crate::event::names::Obj;
use crate::event::operation::{Access, Mode, OpKind};
use crate::event::position::Position;
use crate::event::wait::BlockedOn;
use crate::trace::cost::forced_order;
use crate::trace::queries::{blocked, is_arrival, last_signal, touches};
use crate::trace::{Trace, TraceStep};

/// The cause that a failing execution of this kind tells by itself.
pub(in crate::explain) fn cause(kind: FailureKind, failure: &Failure, trace: &Trace) -> Option<Cause> {
    match kind {
        FailureKind::Deadlock => {
            entangled(trace, &[]).or_else(|| lost_wake_up(trace)).or_else(|| standstill(trace))
        }
        // A single thread that goes round for ever fails by itself.
        FailureKind::Livelock if failure.thread.is_none() => Some(Cause::Livelock(circling(trace))),
        FailureKind::UseAfterFree => life(failure, trace, None).map(Cause::UseAfterFree),
        FailureKind::DoubleFree => life(failure, trace, None).map(Cause::DoubleFree),
        _ => None,
    }
}

/// A signal that woke no thread, and came before the wait in every execution: creations and joins leave no other order.
fn lost_wake_up(trace: &Trace) -> Option<Cause> {
    blocked(trace).find_map(|(view, on)| {
        let BlockedOn::Cond(condition) = *on else { return None };
        let thread = view.agent.thread();
        let is_wait = |step: &TraceStep| {
            step.event.id.thread == thread
                && step.event.op.kind == OpKind::CondWait
                && touches(step, condition)
        };
        let wait = trace.steps.rposition(is_wait)?;
        let signal = last_signal(trace, condition)?;
        let forced = forced_order(trace);
        let is_lost = !trace.steps[signal].woke && forced.get(signal).is_before(forced.get(wait));
        is_lost.then_some(Cause::LostWakeUp { thread, condition, signal })
    })
}

/// All threads that wait, if one of them waits for no thread in particular: first such threads, then those that wait for a
/// lock, then those that wait for an end.
fn standstill(trace: &Trace) -> Option<Cause> {
    let mut all: Vec<WaitingThread> = blocked(trace)
        .filter(|(_, on)| !matches!(on, BlockedOn::Test))
        .map(|(view, on)| {
            let held = links(trace, view, on, &[]).into_iter().find_map(|link| match link.wants {
                AwaitedAction::Lock(_, taken) => Some((link.owner, taken)),
                _ => None,
            });
            let thread = view.agent.thread();
            WaitingThread { thread, on: on.clone(), held, last: last(trace, on), absent: Vec::new() }
        })
        .collect();
    all.sort_by_key(|stuck| place(&stuck.on));
    let begins = all.first().is_some_and(|stuck| place(&stuck.on) == 0);
    begins.then_some(Cause::Standstill(all))
}

/// The threads that wait for no thread in particular. These executions end well.
pub(super) fn stuck(trace: &Trace, passing: &[Trace]) -> Vec<WaitingThread> {
    let is_first = |on: &BlockedOn| {
        matches!(on, BlockedOn::Cond(_) | BlockedOn::Sem(_) | BlockedOn::Barrier { .. } | BlockedOn::Futex(_))
    };
    let all = blocked(trace).filter(|(_, on)| is_first(on));
    all.map(|(view, on)| {
        let absent = match *on {
            BlockedOn::Barrier { obj, .. } => would(trace, passing, &|step| is_arrival(step, obj)),
            _ => Vec::new(),
        };
        WaitingThread {
            thread: view.agent.thread(),
            on: on.clone(),
            held: None,
            last: last(trace, on),
            absent,
        }
    })
    .collect()
}

/// The rank of a wait: one for a certain thread comes after one for any thread.
fn place(on: &BlockedOn) -> u8 {
    match on {
        BlockedOn::Join(_) => 2,
        BlockedOn::Mutex { .. } | BlockedOn::Read(_) | BlockedOn::Write(_) => 1,
        _ => 0,
    }
}

/// The event after which no thread did what is waited for.
fn last(trace: &Trace, on: &BlockedOn) -> Option<Position> {
    match *on {
        BlockedOn::Cond(condition) => last_signal(trace, condition),
        BlockedOn::Sem(semaphore) => last_taken(trace, semaphore),
        BlockedOn::Futex(word) => last_woken(trace, word),
        _ => None,
    }
}

/// The position at which a thread that sleeps on a word was last woken.
fn last_woken(trace: &Trace, word: Obj) -> Option<Position> {
    let wakes =
        |step: &TraceStep| step.woke && step.event.op.kind == OpKind::FutexWake && touches(step, word);
    trace.steps.rposition(wakes)
}

/// The position at which a semaphore was last taken, if no thread has posted it since.
fn last_taken(trace: &Trace, semaphore: Obj) -> Option<Position> {
    let changes = |access: &Access| access.mode != Mode::Read && access.obj.overlaps(&semaphore);
    let at = trace.steps.rposition(|step| step.event.did.accesses.iter().any(changes))?;
    trace.steps[at].event.acquired().is_some().then_some(at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explain::tests::{explained, found, kind, model};
    use crate::search::Options;

    /// The kind of mistake, and the threads that are stuck where it is none (`1 c 3`: main, at `c`, since the event 3).
    fn told(text: &str) -> String {
        let told = explained(text, &Options::default());
        assert_eq!(told.finding.failure.kind, FailureKind::AlwaysFails, "{text}");
        let Cause::Standstill(all) = &told.diagnosis.cause else { return kind(&told.diagnosis).to_owned() };
        let words = |stuck: &WaitingThread| {
            let number =
                |thread: crate::event::names::ThreadName| thread.path().first().map_or(1, |last| last + 1);
            let on = match stuck.on {
                BlockedOn::Mutex { obj, .. }
                | BlockedOn::Cond(obj)
                | BlockedOn::Sem(obj)
                | BlockedOn::Barrier { obj, .. } => model(text).name_of(obj).unwrap(),
                BlockedOn::Join(thread) => format!("T{}", number(thread)),
                _ => panic!("{stuck:?}"),
            };
            let last = stuck.last.or(stuck.held.and_then(|(_, taken)| taken));
            format!("{} {on}{}", number(stuck.thread), last.map(|at| format!(" {at}")).unwrap_or_default())
        };
        all.iter().map(words).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn what_forms_the_circle_is_told_without_an_execution_that_passes() {
        for (text, expected) in [
            ("create T2, join T2 | T2: lock m, lock m", "double lock"),
            ("lock m, create T2, join T2 | T2: w x, lock m", "circle"),
            ("create T2, join T2, lock m | T2: lock m", "missing release"),
            ("create T2, await x x == 1 | T2: r y", "livelock"),
        ] {
            assert_eq!(told(text), expected, "{text}");
        }
    }

    #[test]
    fn who_waits_for_nobody_in_particular_comes_first() {
        for (text, expected) in [
            // The other one would post it after the join.
            ("create T2, join T2, up s | T2: down s", "2 s, 1 T2"),
            ("let s=1 | create T2, join T2 | T2: down s, down s", "2 s 1, 1 T2"),
            ("create T2, join T2 | T2: lock m, wait c m", "2 c, 1 T2"),
            ("create T2, join T2 | T2: bar b 2", "2 b, 1 T2"),
            // The thread that would signal waits for another lock of the thread that waits for the signal.
            (
                "create T2, lock o, create T3, unlock o | T2: lock p, lock o, unlock o, lock m, wait c m \
                 | T3: join T2, signal c",
                "2 c, 3 T2",
            ),
        ] {
            assert_eq!(told(text), expected, "{text}");
        }
    }

    #[test]
    fn a_signal_is_called_lost_only_where_it_must_come_first() {
        let first = "signal c, create T2, join T2 | T2: lock m, wait c m";
        assert_eq!(told(first), "lost wake-up");
        // A signal that comes later wakes the thread, which looks again and waits for ever all the same.
        let either = "create T2, signal c, join T2 | T2: lock m, r x, while x == 0 { wait c m, r x }";
        assert_eq!(told(either), "2 c 1, 1 T2");
    }

    #[test]
    fn what_its_execution_does_not_tell_is_left_untold() {
        let text = "create T2, join T2, assert 0 | T2: w x 1";
        let found = found(text, &Options::default());
        assert!(cause(found.identity.kind(), &found.failure, &found.trace).is_none());
    }
}
