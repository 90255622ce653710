//! What is told of threads that all wait, where nothing but that one execution is known: who waits for what, and who did it last.

use checker::explain::Stuck;
use checker::seam::On;

use super::phrases::{at, since};
use super::telling::Telling;

/// Everybody who waits; those come first who wait for nobody in particular, and tell what is missed.
pub(super) fn sentence(telling: &Telling<'_>, all: &[Stuck]) -> String {
    let kind = match all.first().map(|stuck| &stuck.on) {
        Some(On::Cond(_) | On::Futex(_) | On::Sem(_)) => "missed notification",
        Some(On::Barrier { .. }) => "missed arrival",
        _ => "deadlock",
    };
    let each: Vec<String> = all.iter().map(|stuck| waits(telling, stuck)).collect();
    format!("{kind}: {}", each.join("; "))
}

/// What follows a sentence about something else.
pub(super) fn beside(telling: &Telling<'_>, all: &[Stuck]) -> String {
    all.iter().map(|stuck| format!("; {}", waits(telling, stuck))).collect()
}

fn waits(telling: &Telling<'_>, stuck: &Stuck) -> String {
    let thread = telling.lanes.label(stuck.thread);
    let place = at(&telling.left(stuck.thread).place);
    let waits_for = |obj| format!("{thread} waits for {}{place}", telling.object(obj));
    let waits = || format!("{thread} {}{place}", telling.words().waits(&stuck.on));
    match stuck.on {
        On::Cond(condition) => {
            let after = last(telling, stuck, "did");
            if after.is_empty() {
                format!("{}, and nobody wakes it", waits_for(condition))
            } else {
                format!("{}, and nobody signals it{after}", waits_for(condition))
            }
        }
        On::Sem(semaphore) => {
            format!("{}, and nobody posts it{}", waits_for(semaphore), last(telling, stuck, "took it"))
        }
        On::Futex(_) => format!("{}, and nobody wakes it{}", waits(), last(telling, stuck, "woke a sleeper")),
        On::Barrier { .. } => match &stuck.absent[..] {
            [] => format!("{}, and they do not come", waits()),
            [absent] => format!("{}, and {} does not come", waits(), telling.lanes.label(*absent)),
            absent => {
                let absent: Vec<String> = absent.iter().map(|thread| telling.lanes.label(*thread)).collect();
                format!("{}, and {} do not come", waits(), absent.join(", "))
            }
        },
        On::Mutex { obj, .. } | On::Read(obj) | On::Write(obj) => match stuck.held {
            Some((owner, taken)) => {
                let owner = telling.lanes.label(owner);
                format!("{}, which {owner} holds{}", waits_for(obj), since(telling, taken))
            }
            None => waits_for(obj),
        },
        _ => waits(),
    }
}

/// " after T3 did (work.c:20)", if anybody ever did.
fn last(telling: &Telling<'_>, stuck: &Stuck, did: &str) -> String {
    let event = stuck.last.and_then(|position| telling.event(position));
    event.map(|event| format!(" after {} {did}{}", event.thread, at(&event.place))).unwrap_or_default()
}
