//! The kind of mistake, chosen from what was found out.
//!
//! If threads wait for each other, the things that they wait for tell the kind; else it is the pattern that failing executions
//! have in common, and of several such the one that the critical pair is part of.

pub(super) mod always_fails;
mod antipatterns;
pub(super) mod cause;
mod condition_waits;
mod custom_locks;
mod lock_state;
mod lock_words;
mod stale_reads;
mod torn_updates;
mod use_after_free;
mod wait_for;
mod wakeups;

use self::cause::{Cause, Diagnosis, TornUpdate, WaitingThread};
use self::custom_locks::bypassed_lock;
use self::stale_reads::overtaken;
use self::torn_updates::torn;
use self::use_after_free::life;
use self::wait_for::{circling, waiting};
use super::critical_pair::CriticalPair;
use super::evidence::Evidence;
use super::fault_localisation::Suspect;
use super::swap::{Second, Swap};
use crate::event::failure::{Failure, FailureKind};
use crate::event::operation::{Access, Mode, OpKind};
use crate::event::position::Position;
use crate::event::recorded::TraceEvent;
use crate::event::wait::BlockedOn;
use crate::trace::queries::ObservedAccess;
use crate::trace::{Trace, TraceStep};

/// A pattern with a lower score says little, and so does one of more than so many equal ones.
const CLEAR: f64 = 0.5;
const FEW: u32 = 3;

/// Chooses the cause of a failure.
pub(super) fn diagnose(
    failure: &Failure,
    trace: &Trace,
    suspects: &[Suspect],
    (pair, evidence): (Option<&CriticalPair>, &Evidence),
) -> Diagnosis {
    let swap = match pair.map(|pair| &pair.swaps[..]) {
        Some(&[swap]) => Some(swap),
        _ => None,
    };
    let certain = match failure.kind {
        kind if pair.is_none() && evidence.passing.is_empty() => always_fails::cause(kind, failure, trace),
        FailureKind::Deadlock => waiting(trace, swap, &evidence.passing),
        // A single thread that goes round for ever fails by itself.
        FailureKind::Livelock if failure.thread.is_none() => Some(Cause::Livelock(circling(trace))),
        FailureKind::UseAfterFree => life(failure, trace, swap).map(Cause::UseAfterFree),
        FailureKind::DoubleFree => life(failure, trace, swap).map(Cause::DoubleFree),
        _ => None,
    };
    if let Some(cause) = certain {
        return Diagnosis { cause, bypassed_lock: None, stuck: Vec::new(), thin: false };
    }
    let is_stuck = matches!(failure.kind, FailureKind::Deadlock);
    let stuck = if is_stuck { always_fails::stuck(trace, &evidence.passing) } else { Vec::new() };
    if let Some(cause) = antipatterns::cause(trace, swap, evidence) {
        let stuck = stuck.into_iter().filter(|stuck| is_beside(stuck, None)).collect();
        return Diagnosis { cause, bypassed_lock: None, stuck, thin: false };
    }
    let suspect = chosen(trace, suspects, pair);
    let is_thin = |suspect: &Suspect| suspect.score < CLEAR || suspect.tied > FEW;
    let thin = suspect.is_none_or(|suspect| is_thin(suspect) && !is_tried(trace, suspect, swap));
    let is_of_same = |suspect: &Suspect, told: &[ObservedAccess]| {
        suspect.seen.iter().any(|seen| told.iter().any(|told| told.obj.overlaps(&seen.obj)))
    };
    let counts = |seen: &ObservedAccess| trace.steps[seen.position].event.op.kind == OpKind::Update;
    let is_sure = |suspect: &Suspect| suspect.score >= 1.0 && !suspect.seen.iter().all(counts);
    // The passing of the swap is certain. An order that was not tried is a guess, however often it was seen, and so is what is
    // done to something else, and not in every failing execution alone.
    let is_guess = |suspect: &Suspect, swap: Swap| {
        let of_data = data(trace, swap);
        let told = of_data.map(Vec::from).or_else(|| overtaken(trace, swap).map(Vec::from));
        let is_better = |told: Vec<ObservedAccess>| !is_sure(suspect) && !is_of_same(suspect, &told);
        let is_told_better = thin || is_order(suspect) && of_data.is_some() || told.is_some_and(is_better);
        is_told_better && !has_pair(trace, suspect, &[swap])
    };
    let cause = match (suspect, swap) {
        (Some(suspect), Some(swap)) if is_guess(suspect, swap) => of_swap(trace, swap),
        (Some(suspect), _) => of_pattern(trace, suspect.seen.clone()),
        (None, Some(swap)) => of_swap(trace, swap),
        (None, None) => Cause::Unclear,
    };
    let is_certain = swap.is_some_and(|swap| suspect.is_none_or(|suspect| is_guess(suspect, swap)));
    let half_done = swap
        .filter(|_| !is_stuck)
        .and_then(|swap| torn(trace, swap, evidence))
        .filter(|torn| says_more(torn, &cause));
    let thin = thin && !is_certain && half_done.is_none();
    let cause = half_done.map_or(cause, Cause::Torn);
    let bypassed_lock = seen(&cause).and_then(|told| bypassed_lock(told, trace, evidence));
    let stuck = stuck.into_iter().filter(|stuck| is_beside(stuck, seen(&cause))).collect();
    Diagnosis { cause, bypassed_lock, stuck, thin }
}

/// Whether an update of two variables says more than what is known of one. A thread that reads what another one has written
/// mostly reads it in the order that is wanted. One that reads what another one has not written yet may be too early, unless it
/// reads the other variable only after that.
fn says_more(torn: &TornUpdate, cause: &Cause) -> bool {
    match cause {
        Cause::Pair(_) => true,
        Cause::Order(seen) => match seen[..] {
            [ObservedAccess { writes: true, .. }, ObservedAccess { writes: false, .. }] => true,
            [read, ObservedAccess { writes: true, .. }] if !read.writes => {
                torn.stale.obj.overlaps(&read.obj) && torn.stale.position < torn.seen.position
            }
            _ => false,
        },
        _ => false,
    }
}

/// Whether it helps to know what a thread waits for. A word that it sleeps on tells something if the cause is one of that word.
fn is_beside(stuck: &WaitingThread, told: Option<&[ObservedAccess]>) -> bool {
    let BlockedOn::Futex(word) = stuck.on else { return true };
    told.into_iter().flatten().any(|seen| seen.obj.overlaps(&word))
}

/// The pattern that a cause is.
fn seen(cause: &Cause) -> Option<&[ObservedAccess]> {
    match cause {
        Cause::LostUpdate(seen) | Cause::Atomicity(seen) | Cause::Order(seen) => Some(seen),
        _ => None,
    }
}

fn of_pattern(trace: &Trace, seen: Vec<ObservedAccess>) -> Cause {
    let writes: Vec<bool> = seen.iter().map(|seen| seen.writes).collect();
    match writes[..] {
        [false, true, true] if !reads_again(trace, &seen) => Cause::LostUpdate(seen),
        [true, true, true] => lost_update(trace, &seen[1..]).unwrap_or(Cause::Atomicity(seen)),
        [_, _, _] => Cause::Atomicity(seen),
        [true, true] => lost_update(trace, &seen).unwrap_or(Cause::Order(seen)),
        _ => Cause::Order(seen),
    }
}

/// The cause that the order of two events makes: two accesses to data make a pattern, whatever the score of others, and so may
/// two critical sections.
fn of_swap(trace: &Trace, swap: Swap) -> Cause {
    if let Some(seen) = data(trace, swap) {
        let cause = undone(trace, seen).or_else(|| overwritten(trace, seen));
        return cause.unwrap_or_else(|| of_pattern(trace, seen.to_vec()));
    }
    let overtaken = overtaken(trace, swap).map(|seen| of_pattern(trace, seen.to_vec()));
    overtaken.unwrap_or(Cause::Pair(swap))
}

/// Of a write and another thread's read after it, whether that thread had just written the same: it reads what is not its own.
fn overwritten(trace: &Trace, [remote, read]: [ObservedAccess; 2]) -> Option<Cause> {
    let touched = |step: &TraceStep| {
        step.event.id.thread == read.thread
            && step.event.did.accesses.iter().any(|access| access.obj.overlaps(&read.obj))
    };
    let position = trace.steps.rposition_before(read.position, touched)?;
    let own = trace.steps[position].event.did.accesses.iter().any(|access| access.mode == Mode::Write);
    let is_between = remote.writes && !read.writes && own && position < remote.position;
    let write = ObservedAccess { thread: read.thread, writes: true, obj: read.obj, position };
    is_between.then(|| Cause::Atomicity(vec![write, remote, read]))
}

/// Of a read and another thread's write after it, whether the first thread then writes over that without having looked again.
fn undone(trace: &Trace, [read, remote]: [ObservedAccess; 2]) -> Option<Cause> {
    let after = remote.position.next();
    let touches = |step: &TraceStep| {
        step.event.id.thread == read.thread
            && step.event.did.accesses.iter().any(|access| access.obj.overlaps(&read.obj))
    };
    let next = trace.steps.position_from(after, touches)?;
    let is_plain = trace.steps[next].event.op.kind == OpKind::Write;
    let local = ObservedAccess { writes: true, position: next, ..read };
    (!read.writes && remote.writes && is_plain).then(|| Cause::LostUpdate(vec![read, remote, local]))
}

/// The two events of a swap, if both only read or write, and the same; one of them may do both at once, as what stores
/// indivisibly does.
fn data(trace: &Trace, swap: Swap) -> Option<[ObservedAccess; 2]> {
    let Second::Event(second) = swap.second else { return None };
    let [first, second] = [swap.first, second].map(|at| (at, &trace.steps[at].event));
    let is = |event: &TraceEvent, kinds: &[OpKind]| kinds.contains(&event.op.kind);
    let [plain, any] =
        [&[OpKind::Read, OpKind::Write][..], &[OpKind::Read, OpKind::Write, OpKind::Update][..]];
    let is_data = |one: &TraceEvent, other: &TraceEvent| is(one, plain) && is(other, any);
    let all = || {
        first.1.did.accesses.iter().flat_map(|one| second.1.did.accesses.iter().map(move |two| (one, two)))
    };
    let (one, two) = all().find(|(one, two)| one.obj.overlaps(&two.obj))?;
    let seen = |(position, event): (Position, &TraceEvent), access: &Access| ObservedAccess {
        thread: event.id.thread,
        writes: access.mode == Mode::Write,
        obj: access.obj,
        position,
    };
    (is_data(first.1, second.1) || is_data(second.1, first.1)).then(|| [seen(first, one), seen(second, two)])
}

/// Whether a pattern is one of two accesses, whose order is wrong.
fn is_order(suspect: &Suspect) -> bool {
    suspect.seen.len() == 2
}

/// Whether a pattern is an order of which it was tried that the other one passes.
fn is_tried(trace: &Trace, suspect: &Suspect, swap: Option<Swap>) -> bool {
    is_order(suspect) && swap.is_some_and(|swap| has_pair(trace, suspect, &[swap]))
}

/// Whether a critical pair is part of a pattern: a thread may come past an instruction more than once.
fn has_pair(trace: &Trace, suspect: &Suspect, swaps: &[Swap]) -> bool {
    let is = |seen: &ObservedAccess, position: Position| {
        let [event, known] = [position, seen.position].map(|at| &trace.steps[at].event);
        let overlaps = || event.did.accesses.iter().any(|access| access.obj.overlaps(&seen.obj));
        event.id.thread == seen.thread && event.site == known.site && overlaps()
    };
    swaps.iter().any(|swap| match swap.second {
        Second::Event(second) => {
            let mut seen = suspect.seen.iter().skip_while(|seen| !is(seen, swap.first));
            seen.next().is_some() && seen.any(|seen| is(seen, second))
        }
        Second::Pending(_) => false,
    })
}

/// Of the patterns with the best rank, one that the critical pair is part of; where that would be an order, one of any rank
/// that is the critical pair; else one of the pair's threads.
fn chosen<'s>(trace: &Trace, suspects: &'s [Suspect], pair: Option<&CriticalPair>) -> Option<&'s Suspect> {
    let best = suspects.first()?;
    let peers = || suspects.iter().take_while(|suspect| suspect.rank == best.rank);
    let swaps = pair.map(|pair| &pair.swaps[..]).unwrap_or_default();
    let has_threads = |suspect: &&Suspect| {
        let has = |thread| suspect.seen.iter().any(|seen| seen.thread == thread);
        let thread = |at: Position| trace.steps[at].event.id.thread;
        swaps.iter().any(|swap| match swap.second {
            Second::Event(second) => has(thread(swap.first)) && has(thread(second)),
            Second::Pending(second) => has(thread(swap.first)) && has(second),
        })
    };
    let is_pair = |suspect: &&Suspect| has_pair(trace, suspect, swaps);
    let order = || suspects.iter().filter(|suspect| is_order(best) && is_order(suspect)).find(is_pair);
    peers().find(is_pair).or_else(order).or_else(|| peers().find(has_threads)).or(Some(best))
}

/// Whether the thread looks again after the other one's write, and before its own.
fn reads_again(trace: &Trace, seen: &[ObservedAccess]) -> bool {
    let [first, remote, local] = seen else { return false };
    let own = trace.steps[remote.position..local.position].iter();
    own.filter(|step| step.event.id.thread == first.thread).any(|step| {
        let accesses = &step.event.did.accesses;
        accesses.iter().any(|access| access.mode == Mode::Read && access.obj.overlaps(&first.obj))
    })
}

/// A lost update, if the thread of the second of two writes has not seen the first one.
fn lost_update(trace: &Trace, writes: &[ObservedAccess]) -> Option<Cause> {
    let read = read_before(trace, writes)?;
    Some(Cause::LostUpdate(std::iter::once(read).chain(writes.iter().copied()).collect()))
}

/// Of two writes, what the second one's thread did to the object just before it, if that was to read it before the first
/// write: the thread writes over what it has never seen. An operation that reads and writes at once sees it.
fn read_before(trace: &Trace, seen: &[ObservedAccess]) -> Option<ObservedAccess> {
    let &[remote, local] = seen else { return None };
    let touches = |step: &TraceStep| {
        step.event.id.thread == local.thread
            && step.event.did.accesses.iter().any(|access| access.obj.overlaps(&local.obj))
    };
    let position = trace.steps.rposition_before(local.position, touches)?;
    let is_read = trace.steps[position].event.op.kind == OpKind::Read;
    let is_stale = position < remote.position;
    let is_plain = trace.steps[local.position].event.op.kind == OpKind::Write;
    let read = ObservedAccess { thread: local.thread, writes: false, obj: local.obj, position };
    (is_read && is_stale && is_plain && remote.thread != local.thread).then_some(read)
}
