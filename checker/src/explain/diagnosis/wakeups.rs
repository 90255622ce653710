//! The fate of the last signal, where threads are left that wait for one.
//!
//! It woke no thread, since none waited yet; or it woke a thread that found nothing to do and waits again, so that it was lost
//! on that one, while another thread waits as well; or no thread has signalled since.

use super::cause::{Cause, SignalDelivery, WokenThread};
use crate::event::names::{Obj, ThreadName};
use crate::event::position::Position;
use crate::event::wait::BlockedOn;
use crate::trace::queries::{
    ObservedAccess, blocked, changed_since_look, early, is_wait, last_signal, wait, writes, written,
};
use crate::trace::{Trace, TraceStep};

/// The cause for which threads that wait for a signal at the end are not woken: a signal that was lost on another one tells
/// most. A thread that has looked at nothing that was changed since waits as it should, and is told of only if that is so of
/// all.
pub(super) fn cause(trace: &Trace) -> Option<Cause> {
    let waiting: Vec<Waiter> = blocked(trace)
        .filter_map(|(view, on)| match *on {
            BlockedOn::Cond(condition) => Some(Waiter::new(trace, view.agent.thread(), condition)),
            _ => None,
        })
        .collect();
    let misled = waiting.iter().find_map(|waiter| {
        let last = waiter.last.as_ref()?;
        let is_lost = |woken: &WokenThread| woken.thread != waiter.thread && woken.again.is_some();
        (waiter.begins? < last.signal && last.woken.iter().any(is_lost)).then(|| waiter.missed())
    });
    let overtaken = || {
        waiting.iter().find_map(|waiter| {
            let is_it = |woken: &WokenThread| woken.thread == waiter.thread && woken.overtaken.is_some();
            waiter.last.as_ref()?.woken.iter().any(is_it).then(|| waiter.missed())
        })
    };
    let owed = owed(&waiting);
    let early = || {
        owed.iter().find_map(|waiter| {
            let signal = early(trace, waiter.condition)?;
            Some(Cause::LostWakeUp { thread: waiter.thread, condition: waiter.condition, signal })
        })
    };
    let first = owed.first()?;
    Some(misled.or_else(overtaken).or_else(early).unwrap_or_else(|| first.missed()))
}

/// The threads that have looked at something that was changed since, or all, if none has.
fn owed(waiting: &[Waiter]) -> Vec<&Waiter> {
    let owed: Vec<&Waiter> = waiting.iter().filter(|waiter| waiter.changed.is_some()).collect();
    if owed.is_empty() { waiting.iter().collect() } else { owed }
}

/// A thread that waits for a signal at the end.
struct Waiter {
    thread: ThreadName,
    condition: Obj,
    /// The position at which it began to wait.
    begins: Option<Position>,
    /// The last signal.
    last: Option<SignalDelivery>,
    /// The write of another thread to what this one had looked at.
    changed: Option<ObservedAccess>,
}

impl Waiter {
    fn new(trace: &Trace, thread: ThreadName, condition: Obj) -> Self {
        let begins = wait(trace, thread, condition);
        let changed = changed_since_look(trace, thread, condition);
        Self { thread, condition, begins, last: last_given(trace, condition), changed }
    }

    fn missed(&self) -> Cause {
        let Self { thread, condition, ref last, changed, .. } = *self;
        let is_later = |write: &ObservedAccess| last.as_ref().is_none_or(|last| last.signal < write.position);
        Cause::MissedNotification { thread, condition, last: last.clone(), changed: changed.filter(is_later) }
    }
}

/// The last signal and the threads that it woke.
fn last_given(trace: &Trace, condition: Obj) -> Option<SignalDelivery> {
    let signal = last_signal(trace, condition)?;
    let id = trace.steps[signal].event.id;
    let ran = trace.steps.since(signal);
    let ran = ran.filter(|(_, step)| step.event.woken_by() == Some(id));
    let left = trace.pending_at_end.iter().filter(|left| !left.closed && left.waker == Some(signal));
    let left =
        left.map(|left| WokenThread { thread: left.view.agent.thread(), again: None, overtaken: None });
    let woken = ran.map(|(at, step)| woken(trace, (step.event.id.thread, condition), (signal, at)));
    Some(SignalDelivery { signal, woken: woken.chain(left).collect() })
}

/// The further course of a thread that this signal has woken up at a position.
fn woken(
    trace: &Trace,
    (thread, condition): (ThreadName, Obj),
    (signal, at): (Position, Position),
) -> WokenThread {
    let own = || trace.steps.since(at).filter(|(_, step)| step.event.id.thread == thread);
    let next = own().find(|(_, step)| is_wait(step, thread, condition)).map(|(position, _)| position);
    let changes =
        |step: &TraceStep| step.event.op.kind.is_access() && step.event.did.accesses.iter().any(writes);
    let again =
        next.filter(|next| !own().take_while(|(position, _)| position < next).any(|(_, step)| changes(step)));
    let overtaken = again.and_then(|again| {
        let looks: Vec<Obj> = own()
            .take_while(|(position, _)| *position < again)
            .filter(|(_, step)| step.event.op.kind.is_access())
            .flat_map(|(_, step)| step.event.did.accesses.iter().map(|access| access.obj))
            .collect();
        written(trace, thread, (signal, at), &looks)
    });
    WokenThread { thread, again, overtaken }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::failure::FailureDetail;
    use crate::explain::tests::{explained, kind};
    use crate::search::Options;

    /// The missed notification of a program, and the fate of the last signal: `1: 3 wakes 2, again`.
    fn told(text: &str) -> String {
        let told = explained(text, &Options::default());
        let Cause::MissedNotification { thread, last, changed, .. } = &told.diagnosis.cause else {
            return kind(&told.diagnosis).to_owned();
        };
        let number = |thread: ThreadName| thread.path().first().map_or(1, |last| last + 1);
        let woken = |woken: &WokenThread| {
            let again = woken.again.map(|_| ", again").unwrap_or_default();
            let overtaken = woken.overtaken.map(|seen| format!(" after {}", number(seen.thread)));
            format!("{}{again}{}", number(woken.thread), overtaken.unwrap_or_default())
        };
        let given = last.as_ref().map(|last| {
            let by = number(told.finding.trace.steps[last.signal].event.id.thread);
            let woken: Vec<String> = last.woken.iter().map(woken).collect();
            format!("{by} wakes {}", woken.join(", "))
        });
        let changed = changed.map(|seen| format!("{} changes it", number(seen.thread)));
        format!("{}: {}", number(*thread), given.into_iter().chain(changed).collect::<Vec<_>>().join("; "))
    }

    const FETCH: &str = "lock m, r full, while full == 0 { wait c m, r full }, w full 0, signal c, unlock m";
    const BRING: &str = "lock m, r full, while full == 1 { wait c m, r full }, w full 1, signal c, unlock m";

    #[test]
    fn a_signal_that_went_to_who_waits_again_is_told() {
        let text = format!("create T2, create T3, {BRING}, {BRING} | T2: {FETCH} | T3: {FETCH}");
        assert!(told(&text).starts_with("1: ") && told(&text).ends_with(", again"), "{}", told(&text));
        // A signal that came before any thread waited is not the one that is missing.
        let early = format!("signal c, create T2, create T3, {BRING}, {BRING} | T2: {FETCH} | T3: {FETCH}");
        assert_eq!(told(&early), told(&text));
        let own = text.replacen("create T2", "create T2, yield", 1).replace("signal c", "broadcast c");
        assert!(crate::explain::tests::outcome(&own).findings.is_empty());
    }

    /// A barrier whose second round begins before the first one is left by all.
    #[test]
    fn what_came_between_the_signal_and_the_look_is_told() {
        let meet = "lock m, r n, w n n+1, if n == 1 { w n 0, broadcast c } else { set n 1, while n { wait c m, r n } }, unlock m";
        let text = format!("create T2, {meet}, {meet} | T2: {meet}, {meet}");
        assert!(told(&text).contains(", again after "), "{}", told(&text));
    }

    #[test]
    fn a_signal_that_woke_another_one_is_not_called_lost() {
        let wait = "lock m, r x, if x == 0 { wait c m }, unlock m";
        // It is one signal for two, which is enough where one of them comes late.
        let text =
            format!("create T2, create T3, lock m, w x 1, signal c, unlock m | T2: {wait} | T3: {wait}");
        let told = told(&text);
        assert!(told == "3: 1 wakes 2" || told == "2: 1 wakes 3", "{told}");
    }

    /// The borrower tells the threads that wait for something to come in place of those that wait for it to go.
    #[test]
    fn who_waits_for_what_has_not_happened_waits_as_it_should() {
        let text = "let n=1 | create T2, create T3, lock m, r n, while n == 1 { wait gone m, r n }, w n 1, signal come, unlock m \
                    | T2: lock m, r n, if n == 1 { w n 0, signal come }, unlock m \
                    | T3: lock m, r n, while n == 0 { wait come m, r n }, unlock m";
        assert_eq!(told(text), "1: 2 changes it");
        let detail = crate::explain::tests::found(text, &Options::default()).failure.detail;
        assert!(!matches!(detail, FailureDetail::LostWakeUp { .. }), "{detail:?}");
        let early =
            "create T2, signal c, lock m, w x 1, unlock m | T2: lock m, r x, while x == 0 { wait c m, r x }";
        assert_eq!(told(early), "lost wake-up");
    }
}
