//! What is told of threads that signals wake, or do not wake.

use checker::explain::{Given, Seen, Stolen, Woken};
use checker::names::{Obj, ThreadName};

use super::phrases::{accesses, at, done};
use super::telling::Telling;

/// Who waits for a signal that does not come any more, and what became of the last one.
pub(super) fn missed(
    telling: &Telling<'_>,
    (thread, condition): (ThreadName, Obj),
    (last, changed): (Option<&Given>, Option<Seen>),
) -> String {
    let waits = telling.left(thread);
    let (waiter, place, object) = (waits.thread, at(&waits.place), telling.object(condition));
    let write = changed
        .map(|write| {
            let [write] = accesses(telling, &[write]);
            format!(" {write},")
        })
        .unwrap_or_default();
    let Some(last) = last else {
        return format!("{waiter} waits for {object}{place},{write} and nobody wakes it");
    };
    let (by, line) = done(telling, last.signal);
    let label = |woken: &Woken| telling.lanes.label(woken.thread);
    let again = |woken: &Woken| woken.again.map(|again| done(telling, again).1);
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
        let [write] = accesses(telling, &[write]);
        let again = again(woken).unwrap_or_default();
        return format!(
            "{by} signals {object}{line} and wakes {waiter}, {write} before {waiter} goes on, {waiter} waits \
             again{again}, and nobody wakes it"
        );
    }
    format!(
        "{waiter} waits for {object}{place},{write} and nobody signals it after {by} did{line}{}",
        others(telling, last)
    )
}

/// ", which woke T3".
fn others(telling: &Telling<'_>, last: &Given) -> String {
    let woken: Vec<String> = last.woken.iter().map(|woken| telling.lanes.label(woken.thread)).collect();
    if woken.is_empty() { String::new() } else { format!(", which woke {}", woken.join(", ")) }
}

/// Who was woken up for nothing, and goes on.
pub(super) fn stolen(telling: &Telling<'_>, stolen: &Stolen) -> String {
    let Stolen { thread, condition, wait, signal, write } = stolen;
    let (waiter, line) = (telling.lanes.label(*thread), done(telling, *wait).1);
    let (by, signals) = done(telling, *signal);
    let [write] = accesses(telling, &[*write]);
    let object = telling.object(*condition);
    format!(
        "{waiter} waits for {object}{line}, {by} signals it{signals}, {write} before {waiter} has woken, and {waiter} \
         goes on without waiting again"
    )
}
