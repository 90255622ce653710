//! The sentence: states the kind of mistake, with the names of threads, variables and lines.

use checker::explain::{
    AwaitedAction, Cause, Diagnosis, FreedBlock, LateWrite, ObservedAccess, SpinningThread, TornUpdate,
    WaitForEdge,
};
use checker::failure::FailureDetail;
use checker::operation::OpKind;

use super::context::ExplanationContext;
use super::phrases::{accesses, at, done, since};
use super::{deadlock, notifications};
use crate::report::explanation::Side;
use crate::report::{Location, Role};

/// The cause in words, as far as it is known.
pub(super) fn sentence(
    context: &ExplanationContext<'_>,
    diagnosis: &Diagnosis,
    unfinished: Option<&str>,
) -> String {
    let sentence = match &diagnosis.cause {
        Cause::DoubleLock { thread, lock, taken } => {
            let own = context.labels.label(*thread);
            format!(
                "double lock: {own} waits for {}{}, which it holds itself{}",
                context.object(*lock),
                at(&context.left(*thread).place),
                since(context, *taken)
            )
        }
        Cause::LockOrder(links) => format!("lock-order cycle: {}", circle(context, links)),
        Cause::Circle(links) => {
            let is_turn = |link: &WaitForEdge| matches!(link.wants, AwaitedAction::Turn(_));
            let kind =
                if links.iter().any(is_turn) { "reader behind a waiting writer" } else { "circular wait" };
            format!("{kind}: {}", circle(context, links))
        }
        Cause::MissingRelease(link) => format!("missing release: {}", unreleased(context, link)),
        Cause::LostWakeUp { thread, condition, signal } => {
            let place = context.left(*thread);
            let (by, line) = done(context, *signal);
            format!(
                "lost wake-up: {by} signals {}{line} before {} waits for it{}, and nobody signals again",
                context.object(*condition),
                place.thread,
                at(&place.place)
            )
        }
        Cause::MissedNotification { thread, condition, last, changed } => {
            let missed = notifications::missed(context, (*thread, *condition), (last.as_ref(), *changed));
            format!("missed notification: {missed}")
        }
        Cause::StolenWakeUp(stolen) => format!("stolen wake-up: {}", notifications::stolen(context, stolen)),
        Cause::FailedTry { attempt, lock, held } => {
            let (thread, line) = done(context, *attempt);
            let held = held.map(|(owner, taken)| {
                let owner = context.labels.label(owner);
                format!(", which {owner} holds{}", since(context, Some(taken)))
            });
            let lock = context.object(*lock);
            let held = held.unwrap_or_default();
            format!("failed try-lock: {thread} tries to take {lock}{line}{held}, and goes on without it")
        }
        Cause::Aba(seen) => {
            let [read, ..] = accesses::<4>(context, seen);
            let [_, change, back, swap] = seen.map(|seen| done(context, seen.position));
            format!(
                "ABA: {read}, {} changes it{} and {} changes it again{}, and then the compare-and-swap of {}{} succeeds \
                 as if nothing had come between",
                change.0, change.1, back.0, back.1, swap.0, swap.1
            )
        }
        Cause::Standstill(all) => deadlock::sentence(context, all),
        Cause::Livelock(all) => {
            let each: Vec<String> = all.iter().map(|circling| circles(context, circling)).collect();
            format!("livelock: {}", each.join("; "))
        }
        Cause::UseAfterFree(life) => format!("use after free: {}", lived(context, life)),
        Cause::DoubleFree(life) => format!("double free: {}", lived(context, life)),
        Cause::LostUpdate(seen) => {
            let [read, write, late] = accesses(context, seen);
            format!("lost update: {read}, {write}, and then {late}, which undoes that")
        }
        Cause::Atomicity(seen) => {
            let [first, other, second] = accesses(context, seen);
            format!("atomicity violation: {first}, {other}, and then {second} as if nothing had come between")
        }
        Cause::Torn(torn) => format!("atomicity violation: {}", half_done(context, torn)),
        Cause::Order(seen) => {
            let [first, second] = accesses(context, seen);
            let after = if dereferences_null(context) { ", and uses a null pointer" } else { "" };
            format!("order violation: {first} before {second}{after}")
        }
        Cause::Pair(swap) => {
            let [first, second] = context.swap(*swap).map(|side| {
                let Side { thread, text, place, .. } = side;
                format!("{thread}: {text}{}", at(&place))
            });
            let kind = unfinished.unwrap_or("no known kind of mistake");
            format!("{kind}, but this schedule passes if these two swap places: {first}; {second}")
        }
        Cause::Unclear => {
            unfinished.unwrap_or("no pattern of accesses tells failing executions from others").to_owned()
        }
    };
    let thin = match (&diagnosis.cause, diagnosis.thin) {
        (Cause::Unclear | Cause::Pair(_), _) | (_, false) => "",
        _ => " (the evidence is thin: executions that end well have this too, or several patterns fit)",
    };
    let past = diagnosis.bypassed_lock.map(|seen| came_past(context, &seen)).unwrap_or_default();
    sentence + thin + &past + &deadlock::beside(context, &diagnosis.stuck)
}

/// Says how both threads came past what should have kept one of them out.
fn came_past(context: &ExplanationContext<'_>, seen: &[ObservedAccess]) -> String {
    let [read, write, late] = accesses(context, seen);
    format!("; both came past what threads spin on: {read}, {write}, and then {late}")
}

/// Names the two variables that a thread changes, and the thread that comes in between.
fn half_done(context: &ExplanationContext<'_>, torn: &TornUpdate) -> String {
    let TornUpdate { written, seen, stale, late } = torn;
    let [writer, reader] = [written, seen].map(|seen| context.labels.label(seen.thread));
    let [one, other] = [written, stale].map(|seen| context.object(seen.obj));
    let [written, after, before] = [written, seen, stale].map(|seen| done(context, seen.position).1);
    let late = match *late {
        LateWrite::Event(position) => done(context, position).1,
        LateWrite::Missing(site) if context.places.is_own_site(site) => at(&context.places.of_site(site)),
        // Of an event of another execution there is no stack.
        LateWrite::Missing(_) => String::new(),
    };
    format!(
        "{writer} writes {one}{written} and {other}{late} as if nothing came between, but {reader} reads {one} after that{after}, and \
         {other} before{before}"
    )
}

/// Says what was done to a block too late, and where its life had begun and ended.
fn lived(context: &ExplanationContext<'_>, life: &FreedBlock) -> String {
    let late = context.event(life.late);
    let does = match late.map(|event| event.operation) {
        Some(OpKind::Read) => "reads",
        Some(OpKind::Write) => "writes",
        Some(OpKind::Free) => "frees",
        _ => "uses",
    };
    let user = late.map(|event| event.thread.as_str()).unwrap_or_default();
    let line = late.map(|event| at(&event.place)).unwrap_or_default();
    let place = |role: Role| {
        let party = context.told.parties.iter().find(|party| party.role == role)?;
        party.stack.first()
    };
    let allocated = place(Role::Allocated).map(Location::short_words).filter(|line| !line.is_empty());
    let allocated = allocated.map(|line| format!(", allocated at {line},")).unwrap_or_default();
    let freed = place(Role::Freed).map(at).unwrap_or_default();
    let unordered = if life.unordered { "; nothing orders the two" } else { "" };
    let object = context.object(life.block);
    let owner = context.labels.label(life.freed_by);
    format!("{user} {does} {object}{line}{allocated} after {owner} freed it{freed}{unordered}")
}

/// Names the thread that took a lock and ended with it, and the one that waits for it.
fn unreleased(context: &ExplanationContext<'_>, link: &WaitForEdge) -> String {
    let AwaitedAction::Lock(lock, taken) = link.wants else { return waits(context, link) };
    let taken = taken.and_then(|position| context.event(position));
    let place = taken.map(|event| at(&event.place)).unwrap_or_default();
    format!(
        "{} took {}{place} and ended without giving it back, and {} waits for it{}",
        context.labels.label(link.owner),
        context.object(lock),
        context.labels.label(link.thread),
        at(&context.left(link.thread).place)
    )
}

fn circle(context: &ExplanationContext<'_>, links: &[WaitForEdge]) -> String {
    let links: Vec<String> = links.iter().map(|link| waits(context, link)).collect();
    links.join("; ")
}

fn waits(context: &ExplanationContext<'_>, link: &WaitForEdge) -> String {
    let place = at(&context.left(link.thread).place);
    let [thread, owner] = [link.thread, link.owner].map(|thread| context.labels.label(thread));
    match link.wants {
        AwaitedAction::Lock(lock, taken) => {
            let (lock, since) = (context.object(lock), since(context, taken));
            format!("{thread} waits for {lock}{place}, which {owner} holds{since}")
        }
        AwaitedAction::Turn(lock) => {
            let lock = context.object(lock);
            format!("{thread} waits to read {lock}{place} behind {owner}, which waits to write it")
        }
        AwaitedAction::End => format!("{thread} waits for {owner} to end{place}"),
        AwaitedAction::Post(obj) => {
            format!("{thread} waits for {}{place}, which {owner} would post", context.object(obj))
        }
        AwaitedAction::Signal(obj) => {
            format!("{thread} waits for {}{place}, which {owner} would signal", context.object(obj))
        }
        AwaitedAction::Arrival(obj) => {
            format!("{thread} waits at {}{place} for {owner}", context.object(obj))
        }
    }
}

/// Names the thread that does the same again and again, with its place, and the one that changed last what it waits for.
fn circles(context: &ExplanationContext<'_>, circling: &SpinningThread) -> String {
    let thread = context.labels.label(circling.thread);
    let place = at(&context.left(circling.thread).place);
    if circling.thread.is_timer() {
        return format!("{thread} expires again and again{place}, and nothing comes of it");
    }
    if circling.awaits.is_empty() {
        return format!("{thread} gives way again and again{place}");
    }
    let changed = circling.changed.and_then(|position| context.event(position));
    let changed = match changed {
        Some(event) => format!(", which {} changed last{}", event.thread, at(&event.place)),
        None => ", which nobody changes".to_owned(),
    };
    format!("{thread} {}{place}{changed}", context.words().spins(&circling.awaits))
}

fn dereferences_null(context: &ExplanationContext<'_>) -> bool {
    matches!(context.failure.detail, FailureDetail::Signal { origin, .. } if origin.is_null_pointer())
}
