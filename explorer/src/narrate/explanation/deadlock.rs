//! Threads that all wait, where nothing but that one execution is known: the object that each waits for, and the thread
//! that did it last.

use checker::explain::WaitingThread;
use checker::program::BlockedOn;

use super::context::ExplanationContext;
use super::phrases::{at, since};

/// All threads that wait; those come first that wait for no particular thread, and tell what is missed.
pub(super) fn sentence(context: &ExplanationContext<'_>, all: &[WaitingThread]) -> String {
    let kind = match all.first().map(|stuck| &stuck.on) {
        Some(BlockedOn::Cond(_) | BlockedOn::Futex(_) | BlockedOn::Sem(_)) => "missed notification",
        Some(BlockedOn::Barrier { .. }) => "missed arrival",
        _ => "deadlock",
    };
    let each: Vec<String> = all.iter().map(|stuck| waits(context, stuck)).collect();
    format!("{kind}: {}", each.join("; "))
}

/// The threads that wait, as the end of a sentence about something else.
pub(super) fn beside(context: &ExplanationContext<'_>, all: &[WaitingThread]) -> String {
    all.iter().map(|stuck| format!("; {}", waits(context, stuck))).collect()
}

fn waits(context: &ExplanationContext<'_>, stuck: &WaitingThread) -> String {
    let thread = context.labels.label(stuck.thread);
    let place = at(&context.left(stuck.thread).place);
    let waits_for = |obj| format!("{thread} waits for {}{place}", context.object(obj));
    let waits = || format!("{thread} {}{place}", context.words().waits(&stuck.on));
    match stuck.on {
        BlockedOn::Cond(condition) => {
            let after = last(context, stuck, "did");
            if after.is_empty() {
                format!("{}, and nobody wakes it", waits_for(condition))
            } else {
                format!("{}, and nobody signals it{after}", waits_for(condition))
            }
        }
        BlockedOn::Sem(semaphore) => {
            format!("{}, and nobody posts it{}", waits_for(semaphore), last(context, stuck, "took it"))
        }
        BlockedOn::Futex(_) => {
            format!("{}, and nobody wakes it{}", waits(), last(context, stuck, "woke a sleeper"))
        }
        BlockedOn::Barrier { .. } => match &stuck.absent[..] {
            [] => format!("{}, and they do not come", waits()),
            [absent] => format!("{}, and {} does not come", waits(), context.labels.label(*absent)),
            absent => {
                let absent: Vec<String> = absent.iter().map(|thread| context.labels.label(*thread)).collect();
                format!("{}, and {} do not come", waits(), absent.join(", "))
            }
        },
        BlockedOn::Mutex { obj, .. } | BlockedOn::Read(obj) | BlockedOn::Write(obj) => match stuck.held {
            Some((owner, taken)) => {
                let owner = context.labels.label(owner);
                format!("{}, which {owner} holds{}", waits_for(obj), since(context, taken))
            }
            None => waits_for(obj),
        },
        _ => waits(),
    }
}

/// " after T3 did (work.c:20)", if a thread ever did.
fn last(context: &ExplanationContext<'_>, stuck: &WaitingThread, did: &str) -> String {
    let event = stuck.last.and_then(|position| context.event(position));
    event.map(|event| format!(" after {} {did}{}", event.thread, at(&event.place))).unwrap_or_default()
}
