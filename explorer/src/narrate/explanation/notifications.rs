//! Sentences about threads that signals wake, or do not wake.

use checker::explain::{ObservedAccess, SignalDelivery, StolenWakeUp, WokenThread};
use checker::names::{Obj, ThreadName};

use super::context::ExplanationContext;
use super::phrases::{accesses, at, done};

/// Names the thread that waits for a signal that does not come any more, and what became of the last one.
pub(super) fn missed(
    context: &ExplanationContext<'_>,
    (thread, condition): (ThreadName, Obj),
    (last, changed): (Option<&SignalDelivery>, Option<ObservedAccess>),
) -> String {
    let waits = context.left(thread);
    let (waiter, place, object) = (waits.thread, at(&waits.place), context.object(condition));
    let write = changed
        .map(|write| {
            let [write] = accesses(context, &[write]);
            format!(" {write},")
        })
        .unwrap_or_default();
    let Some(last) = last else {
        return format!("{waiter} waits for {object}{place},{write} and nobody wakes it");
    };
    let (by, line) = done(context, last.signal);
    let label = |woken: &WokenThread| context.labels.label(woken.thread);
    let again = |woken: &WokenThread| woken.again.map(|again| done(context, again).1);
    if let Some((woken, Some(again))) = last
        .woken
        .iter()
        .map(|woken| (woken, again(woken)))
        .find(|(woken, again)| woken.thread != thread && again.is_some())
    {
        return format!(
            "{by} signals {object}{line} and wakes {}, which waits again{again}; {waiter} waits for it as well{place}, \
             and nobody wakes it",
            label(woken)
        );
    }
    let own = last.woken.iter().find(|woken| woken.thread == thread);
    if let Some((woken, write)) = own.and_then(|woken| Some((woken, woken.overtaken?))) {
        let [write] = accesses(context, &[write]);
        let again = again(woken).unwrap_or_default();
        return format!(
            "{by} signals {object}{line} and wakes {waiter}, {write} before {waiter} goes on, {waiter} waits \
             again{again}, and nobody wakes it"
        );
    }
    format!(
        "{waiter} waits for {object}{place},{write} and nobody signals it after {by} did{line}{}",
        others(context, last)
    )
}

/// ", which woke T3".
fn others(context: &ExplanationContext<'_>, last: &SignalDelivery) -> String {
    let woken: Vec<String> = last.woken.iter().map(|woken| context.labels.label(woken.thread)).collect();
    if woken.is_empty() { String::new() } else { format!(", which woke {}", woken.join(", ")) }
}

/// Names the thread that was woken up for nothing, and goes on.
pub(super) fn stolen(context: &ExplanationContext<'_>, stolen: &StolenWakeUp) -> String {
    let StolenWakeUp { thread, condition, wait, signal, write } = stolen;
    let (waiter, line) = (context.labels.label(*thread), done(context, *wait).1);
    let (by, signals) = done(context, *signal);
    let [write] = accesses(context, &[*write]);
    let object = context.object(*condition);
    format!(
        "{waiter} waits for {object}{line}, {by} signals it{signals}, {write} before {waiter} has woken, and {waiter} \
         goes on without waiting again"
    )
}
