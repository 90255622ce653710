//! The sentence: what kind of mistake it is, with the names of threads, variables and lines.

use checker::explain::{Cause, Circling, Diagnosis, Late, Life, Link, Seen, Torn, Wants};
use checker::failure::FailureDetail;
use checker::op::OpKind;

use super::phrases::{accesses, at, done, since};
use super::telling::Telling;
use super::{deadlock, notifications};
use crate::report::explanation::Side;
use crate::report::{Location, Role};

/// What is known of the cause.
pub(super) fn sentence(telling: &Telling<'_>, diagnosis: &Diagnosis) -> String {
    let sentence = match &diagnosis.cause {
        Cause::DoubleLock { thread, lock, taken } => {
            let own = telling.lanes.label(*thread);
            format!(
                "double lock: {own} waits for {}{}, which it holds itself{}",
                telling.object(*lock),
                at(&telling.left(*thread).place),
                since(telling, *taken)
            )
        }
        Cause::LockOrder(links) => format!("lock-order cycle: {}", circle(telling, links)),
        Cause::Circle(links) => {
            let is_turn = |link: &Link| matches!(link.wants, Wants::Turn(_));
            let kind =
                if links.iter().any(is_turn) { "reader behind a waiting writer" } else { "circular wait" };
            format!("{kind}: {}", circle(telling, links))
        }
        Cause::MissingRelease(link) => format!("missing release: {}", unreleased(telling, link)),
        Cause::LostWakeUp { thread, condition, signal } => {
            let place = telling.left(*thread);
            let (by, line) = done(telling, *signal);
            format!(
                "lost wake-up: {by} signals {}{line} before {} waits for it{}, and nobody signals again",
                telling.object(*condition),
                place.thread,
                at(&place.place)
            )
        }
        Cause::MissedNotification { thread, condition, last, changed } => {
            let missed = notifications::missed(telling, (*thread, *condition), (last.as_ref(), *changed));
            format!("missed notification: {missed}")
        }
        Cause::StolenWakeUp(stolen) => format!("stolen wake-up: {}", notifications::stolen(telling, stolen)),
        Cause::FailedTry { attempt, lock, held } => {
            let (thread, line) = done(telling, *attempt);
            let held = held.map(|(owner, taken)| {
                let owner = telling.lanes.label(owner);
                format!(", which {owner} holds{}", since(telling, Some(taken)))
            });
            let lock = telling.object(*lock);
            let held = held.unwrap_or_default();
            format!("failed try-lock: {thread} tries to take {lock}{line}{held}, and goes on without it")
        }
        Cause::Aba(seen) => {
            let [read, ..] = accesses::<4>(telling, seen);
            let [_, change, back, swap] = seen.map(|seen| done(telling, seen.position));
            format!(
                "ABA: {read}, {} changes it{} and {} changes it again{}, and then the compare-and-swap of {}{} succeeds \
                 as if nothing had come between",
                change.0, change.1, back.0, back.1, swap.0, swap.1
            )
        }
        Cause::Standstill(all) => deadlock::sentence(telling, all),
        Cause::Livelock(all) => {
            let each: Vec<String> = all.iter().map(|circling| circles(telling, circling)).collect();
            format!("livelock: {}", each.join("; "))
        }
        Cause::UseAfterFree(life) => format!("use after free: {}", lived(telling, life)),
        Cause::DoubleFree(life) => format!("double free: {}", lived(telling, life)),
        Cause::LostUpdate(seen) => {
            let [read, write, late] = accesses(telling, seen);
            format!("lost update: {read}, {write}, and then {late}, which undoes that")
        }
        Cause::Atomicity(seen) => {
            let [first, other, second] = accesses(telling, seen);
            format!("atomicity violation: {first}, {other}, and then {second} as if nothing had come between")
        }
        Cause::Torn(torn) => format!("atomicity violation: {}", half_done(telling, torn)),
        Cause::Order(seen) => {
            let [first, second] = accesses(telling, seen);
            let after = if dereferences_null(telling) { ", and uses a null pointer" } else { "" };
            format!("order violation: {first} before {second}{after}")
        }
        Cause::Pair(swap) => {
            let [first, second] = telling.swap(*swap).map(|side| {
                let Side { thread, text, place, .. } = side;
                format!("{thread}: {text}{}", at(&place))
            });
            format!(
                "no known kind of mistake, but this schedule passes if these two swap places: {first}; {second}"
            )
        }
        Cause::Unclear => "no pattern of accesses tells failing executions from others".to_owned(),
    };
    let thin = match (&diagnosis.cause, diagnosis.thin) {
        (Cause::Unclear | Cause::Pair(_), _) | (_, false) => "",
        _ => " (the evidence is thin: executions that end well have this too, or several patterns fit)",
    };
    let past = diagnosis.past.map(|seen| came_past(telling, &seen)).unwrap_or_default();
    sentence + thin + &past + &deadlock::beside(telling, &diagnosis.stuck)
}

/// How both came past what should have kept one of them out.
fn came_past(telling: &Telling<'_>, seen: &[Seen]) -> String {
    let [read, write, late] = accesses(telling, seen);
    format!("; both came past what threads spin on: {read}, {write}, and then {late}")
}

/// Which two variables a thread changes, and who comes in between.
fn half_done(telling: &Telling<'_>, torn: &Torn) -> String {
    let Torn { written, seen, stale, late } = torn;
    let [writer, reader] = [written, seen].map(|seen| telling.lanes.label(seen.thread));
    let [one, other] = [written, stale].map(|seen| telling.object(seen.obj));
    let [written, after, before] = [written, seen, stale].map(|seen| done(telling, seen.position).1);
    let late = match *late {
        Late::Event(position) => done(telling, position).1,
        Late::Missing(site) if telling.places.is_own_site(site) => at(&telling.places.of_site(site)),
        // Of an event of another execution there is no stack.
        Late::Missing(_) => String::new(),
    };
    format!(
        "{writer} writes {one}{written} and {other}{late} as if nothing came between, but {reader} reads {one} after that{after}, and \
         {other} before{before}"
    )
}

/// What was done to a block too late, and when its life had begun and ended.
fn lived(telling: &Telling<'_>, life: &Life) -> String {
    let late = telling.event(life.late);
    let does = match late.map(|event| event.operation) {
        Some(OpKind::Read) => "reads",
        Some(OpKind::Write) => "writes",
        Some(OpKind::Free) => "frees",
        _ => "uses",
    };
    let user = late.map(|event| event.thread.as_str()).unwrap_or_default();
    let line = late.map(|event| at(&event.place)).unwrap_or_default();
    let place = |role: Role| {
        let party = telling.told.parties.iter().find(|party| party.role == role)?;
        party.stack.first()
    };
    let allocated = place(Role::Allocated).map(Location::short_words).filter(|line| !line.is_empty());
    let allocated = allocated.map(|line| format!(", allocated at {line},")).unwrap_or_default();
    let freed = place(Role::Freed).map(at).unwrap_or_default();
    let unordered = if life.unordered { "; nothing orders the two" } else { "" };
    let object = telling.object(life.block);
    let owner = telling.lanes.label(life.freed_by);
    format!("{user} {does} {object}{line}{allocated} after {owner} freed it{freed}{unordered}")
}

/// Who took what, ended with it, and who waits for it.
fn unreleased(telling: &Telling<'_>, link: &Link) -> String {
    let Wants::Lock(lock, taken) = link.wants else { return waits(telling, link) };
    let taken = taken.and_then(|position| telling.event(position));
    let place = taken.map(|event| at(&event.place)).unwrap_or_default();
    format!(
        "{} took {}{place} and ended without giving it back, and {} waits for it{}",
        telling.lanes.label(link.owner),
        telling.object(lock),
        telling.lanes.label(link.thread),
        at(&telling.left(link.thread).place)
    )
}

fn circle(telling: &Telling<'_>, links: &[Link]) -> String {
    let links: Vec<String> = links.iter().map(|link| waits(telling, link)).collect();
    links.join("; ")
}

fn waits(telling: &Telling<'_>, link: &Link) -> String {
    let place = at(&telling.left(link.thread).place);
    let [thread, owner] = [link.thread, link.owner].map(|thread| telling.lanes.label(thread));
    match link.wants {
        Wants::Lock(lock, taken) => {
            let (lock, since) = (telling.object(lock), since(telling, taken));
            format!("{thread} waits for {lock}{place}, which {owner} holds{since}")
        }
        Wants::Turn(lock) => {
            let lock = telling.object(lock);
            format!("{thread} waits to read {lock}{place} behind {owner}, which waits to write it")
        }
        Wants::End => format!("{thread} waits for {owner} to end{place}"),
        Wants::Post(obj) => {
            format!("{thread} waits for {}{place}, which {owner} would post", telling.object(obj))
        }
        Wants::Signal(obj) => {
            format!("{thread} waits for {}{place}, which {owner} would signal", telling.object(obj))
        }
        Wants::Arrival(obj) => format!("{thread} waits at {}{place} for {owner}", telling.object(obj)),
    }
}

/// Who does the same again and again, where, and who would have to change something.
fn circles(telling: &Telling<'_>, circling: &Circling) -> String {
    let thread = telling.lanes.label(circling.thread);
    let place = at(&telling.left(circling.thread).place);
    if circling.awaits.is_empty() {
        return format!("{thread} gives way again and again{place}");
    }
    let changed = circling.changed.and_then(|position| telling.event(position));
    let changed = match changed {
        Some(event) => format!(", which {} changed last{}", event.thread, at(&event.place)),
        None => ", which nobody changes".to_owned(),
    };
    format!("{thread} {}{place}{changed}", telling.words().spins(&circling.awaits))
}

fn dereferences_null(telling: &Telling<'_>) -> bool {
    matches!(telling.failure.detail, FailureDetail::Signal { origin, .. } if origin.is_null_pointer())
}
