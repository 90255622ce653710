//! The accesses that are to blame: patterns that failing executions have and passing ones do not.
//!
//! Sangmin Park, Richard W. Vuduc, Mary Jean Harrold: Falcon: Fault Localization in Concurrent Programs, ICSE 2010. Each
//! object's accesses are searched for patterns of atomicity and order violations; those of failing and passing executions
//! are compared by the Jaccard index. Five things differ. Executions of one happens-before class count once, so that a
//! score does not depend on how often a search came past. A pattern is one of an object, not of instructions alone: an
//! instruction of a library serves many variables, and objects have the same names in all executions. A variable that threads
//! wait for as for a lock has no patterns, also where it is taken by accesses of memory. Ranked are the patterns of the
//! execution that is shown, but for those with a read that the failure does not depend on, orders of two indivisible updates
//! where there is anything else, and those that begin after its point of no return, where that is certain. Of accesses that
//! overlap, each object that is accessed anywhere has its share.

mod objects;
mod window;

use rustc_hash::{FxHashMap, FxHashSet};

use self::objects::AccessedObjects;
pub use self::window::{Pattern, PatternAccess};
use self::window::{Window, WindowAccess};
use crate::event::lock_action::LockAction;
use crate::event::names::{Obj, Site, ThreadName};
use crate::event::operation::{Access, Mode, OpKind};
use crate::event::position::Position;
use crate::trace::queries::{ObservedAccess, lock_words};
use crate::trace::{Trace, TraceStep};

/// A pattern with its score.
#[derive(Clone, PartialEq, Debug)]
pub struct Suspect {
    /// Its accesses.
    pub pattern: Pattern,
    /// Jaccard index: the failing executions that have it, over all failing ones and the passing ones that have it.
    pub score: f64,
    /// 1 and one more for each pattern with a higher score.
    pub rank: u32,
    /// The number of patterns that have this rank.
    pub tied: u32,
    /// The number of failing executions that have it.
    pub failing: u32,
    /// The number of passing executions that have it.
    pub passing: u32,
    /// Its accesses in the failing execution that is shown.
    pub seen: Vec<ObservedAccess>,
}

/// A pattern's counts.
#[derive(Clone, Copy, Debug, Default)]
struct PatternCounts {
    failing: u32,
    passing: u32,
}

/// A pattern, and the object that has it.
type ObjectPattern = (Pattern, Obj);

/// Ranks the patterns of the first failing execution, the most suspicious first. `failed` is the position of the last event of
/// the thread that failed there, if one did.
#[must_use]
pub fn rank(failing: &[&Trace], passing: &[&Trace], failed: Option<Position>) -> Vec<Suspect> {
    let all = || failing.iter().chain(passing).copied();
    let objects = AccessedObjects::of(all(), &lock_words(all()));
    let Some((shown, others)) = failing.split_first() else { return Vec::new() };
    let seen = patterns(shown, &objects);
    let mut counts: FxHashMap<ObjectPattern, PatternCounts> =
        seen.keys().map(|key| (key.clone(), PatternCounts { failing: 1, passing: 0 })).collect();
    let mut count = |traces: &[&Trace], add: fn(&mut PatternCounts)| {
        for trace in traces {
            // A pattern that the execution that is shown does not have does not explain it.
            patterns(trace, &objects).keys().for_each(|key| counts.get_mut(key).into_iter().for_each(add));
        }
    };
    count(others, |count| count.failing += 1);
    count(passing, |count| count.passing += 1);
    let all = failing.len() as u32;
    let suspect = |((pattern, obj), seen): (ObjectPattern, Vec<ObservedAccess>)| {
        let PatternCounts { failing, passing } =
            counts.get(&(pattern.clone(), obj)).copied().unwrap_or_default();
        let score = f64::from(failing) / f64::from(all + passing);
        (obj, Suspect { score, rank: 0, tied: 0, failing, passing, seen, pattern })
    };
    let mut suspects: Vec<(Obj, Suspect)> = seen.into_iter().map(suspect).collect();
    without_parts(&mut suspects);
    let mut suspects: Vec<Suspect> = suspects.into_iter().map(|(_, suspect)| suspect).collect();
    suspects.iter_mut().for_each(|suspect| show_last(&mut suspect.seen, shown));
    without_consequences(&mut suspects, passing);
    without_counts(&mut suspects, shown);
    without_gates(&mut suspects, shown);
    if let Some(failed) = failed {
        without_bystanders(&mut suspects, shown, failed);
    }
    suspects.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| order(a, b)));
    number(&mut suspects);
    suspects
}

/// Of accesses of one kind that a thread makes one after the other, windows have the first one, as in the paper. Another thread
/// comes in behind the last one, which is the one to show.
fn show_last(seen: &mut [ObservedAccess], shown: &Trace) {
    let &mut [first, remote, _] = seen else { return };
    let between = shown.steps.between(first.position.next(), remote.position).rev();
    let last = between.map(|(at, step)| (at, &step.event)).find_map(|(position, event)| {
        let is_it = |access: &&Access| {
            access.obj.overlaps(&first.obj) && (access.mode == Mode::Write) == first.writes
        };
        let is_own = event.id.thread == first.thread && event.op.kind.is_access();
        event.did.accesses.iter().filter(|_| is_own).find(is_it).map(|access| (position, access.obj))
    });
    if let Some((position, obj)) = last {
        seen[0] = ObservedAccess { position, obj, ..first };
    }
}

/// Leaves out pairs that are part of a triple with a score as high: they say the same with less. (The paper does not count
/// them where one window has both; the windows that come after that one have the pair alone.)
fn without_parts(suspects: &mut Vec<(Obj, Suspect)>) {
    let mut parts: FxHashMap<([PatternAccess; 2], Obj), f64> = FxHashMap::default();
    for (obj, suspect) in suspects.iter().filter(|(_, suspect)| suspect.pattern.is_atomicity_violation()) {
        for pair in suspect.pattern.0.windows(2) {
            let best = parts.entry(([pair[0], pair[1]], *obj)).or_insert(suspect.score);
            *best = best.max(suspect.score);
        }
    }
    suspects.retain(|(obj, suspect)| match suspect.pattern.0[..] {
        [first, second] => parts.get(&([first, second], *obj)).is_none_or(|&score| score < suspect.score),
        _ => true,
    });
}

/// Leaves out patterns with an instruction that no passing execution runs, if there are others: the code that unwinds the stack
/// after a panic comes of the failure, and is in failing executions alone.
fn without_consequences(suspects: &mut Vec<Suspect>, passing: &[&Trace]) {
    let ordinary: FxHashSet<Site> =
        passing.iter().flat_map(|trace| &trace.steps).map(|step| step.event.site).collect();
    let is_ordinary =
        |suspect: &Suspect| suspect.pattern.0.iter().all(|touch| ordinary.contains(&touch.site));
    if suspects.iter().any(is_ordinary) {
        suspects.retain(is_ordinary);
    }
}

/// Leaves out patterns in which a thread reads what another one has written, where the failure does not happen after that
/// read, if there are others: an execution without the read fails as well.
fn without_bystanders(suspects: &mut Vec<Suspect>, shown: &Trace, failed: Position) {
    let is_heeded = |suspect: &Suspect| {
        let seen = &suspect.seen;
        let learns = |nth: &usize| {
            let others = seen[..*nth].iter().filter(|before| before.thread != seen[*nth].thread);
            !seen[*nth].writes && others.into_iter().any(|before| before.writes)
        };
        let is_before = |nth: usize| {
            let position = seen[nth].position;
            position == failed || shown.hb.ordered(position, failed)
        };
        (0..seen.len()).filter(learns).all(is_before)
    };
    if suspects.iter().any(is_heeded) {
        suspects.retain(is_heeded);
    }
}

/// Leaves out patterns of indivisible updates alone, if there are others: these mostly count, and whichever comes first, the
/// number is the same. The order in which handles of shared memory go often differs between executions that fail and others.
fn without_counts(suspects: &mut Vec<Suspect>, shown: &Trace) {
    let counts = |seen: &ObservedAccess| shown.steps[seen.position].event.op.kind == OpKind::Update;
    let is_value = |suspect: &Suspect| !suspect.seen.iter().all(counts);
    if suspects.iter().any(is_value) {
        suspects.retain(is_value);
    }
}

/// Leaves out patterns of what is compared and swapped, where others tell almost as much: that is mostly how a queue of a library
/// keeps its order, and where it decides, nothing else comes near.
fn without_gates(suspects: &mut Vec<Suspect>, shown: &Trace) {
    const NEAR: f64 = 0.7;
    let swaps = shown.steps.iter().filter(|step| step.event.op.kind == OpKind::CompareExchange);
    let gates: FxHashSet<Obj> =
        swaps.flat_map(|step| step.event.did.accesses.iter().map(|access| access.obj)).collect();
    let is_gate =
        |suspect: &Suspect| suspect.seen.iter().any(|seen| gates.iter().any(|gate| gate.overlaps(&seen.obj)));
    let best = |gate: bool| {
        let scores = suspects.iter().filter(|suspect| is_gate(suspect) == gate).map(|suspect| suspect.score);
        scores.fold(0.0, f64::max)
    };
    if best(false) > 0.0 && best(false) >= NEAR * best(true) {
        suspects.retain(|suspect| !is_gate(suspect));
    }
}

/// Leaves out patterns of what a library counts for itself.
pub(super) fn without_owners(suspects: &mut Vec<Suspect>, counts: &dyn Fn(Obj) -> bool) {
    suspects.retain(|suspect| !suspect.seen.iter().any(|seen| counts(seen.obj)));
    number(suspects);
}

/// Leaves out patterns that begin after the event after which every continuation fails, if there are others. Where that
/// event takes a lock, what the thread does until it gives the lock back is settled with it.
pub(super) fn without_what_comes_after(suspects: &mut Vec<Suspect>, trace: &Trace, event: Position) {
    let settled = released(trace, event).unwrap_or(event);
    let is_in_time = |suspect: &Suspect| suspect.seen.iter().any(|seen| seen.position <= settled);
    if suspects.iter().any(is_in_time) {
        suspects.retain(is_in_time);
        number(suspects);
    }
}

/// The position at which the thread of an event that takes a lock gives it back.
fn released(trace: &Trace, event: Position) -> Option<Position> {
    let taken = &trace.steps.at(event)?.event;
    let hold = taken.acquired()?;
    let lock = taken.did.accesses.first()?.obj;
    let gives_back = |step: &TraceStep| {
        let event = &step.event;
        event.id.thread == taken.id.thread && event.did_to(lock) == Some(LockAction::Release(hold))
    };
    trace.steps.position_from(event.next(), gives_back)
}

/// Of equal scores, atomicity violations come before others, and then what is earlier.
fn order(a: &Suspect, b: &Suspect) -> std::cmp::Ordering {
    let key = |suspect: &Suspect| {
        let accesses = suspect.seen.iter().map(|seen| (seen.position, seen.obj));
        (!suspect.pattern.is_atomicity_violation(), accesses.collect::<Vec<_>>())
    };
    key(a).cmp(&key(b)).then_with(|| a.pattern.cmp(&b.pattern))
}

fn number(suspects: &mut [Suspect]) {
    let mut done = 0;
    for tied in suspects.chunk_by_mut(|a, b| a.score.total_cmp(&b.score).is_eq()) {
        let count = tied.len() as u32;
        for suspect in tied {
            (suspect.rank, suspect.tied) = (done + 1, count);
        }
        done += count;
    }
}

/// The patterns of an execution, each where it is first.
fn patterns(trace: &Trace, objects: &AccessedObjects) -> FxHashMap<ObjectPattern, Vec<ObservedAccess>> {
    let threads: FxHashMap<ThreadName, u32> = trace.threads.iter().copied().zip(0..).collect();
    let mut found = FxHashMap::default();
    let mut windows: Vec<Window> = vec![Window::default(); objects.len()];
    let mut note = |obj: Obj, slots: &[WindowAccess]| {
        let pattern = Pattern(slots.iter().map(|slot| slot.touch).collect());
        let seen = |slot: &WindowAccess| {
            let WindowAccess { thread, touch, obj, position } = *slot;
            ObservedAccess { thread: trace.threads[thread as usize], writes: touch.writes, obj, position }
        };
        found.entry((pattern, obj)).or_insert_with(|| slots.iter().map(seen).collect());
    };
    for (position, step) in trace.steps.enumerate() {
        let event = &step.event;
        let Some(&thread) = threads.get(&event.id.thread) else { continue };
        if !event.op.kind.is_access() {
            continue;
        }
        for access in &event.did.accesses {
            let touch = PatternAccess { writes: access.mode == Mode::Write, site: event.site };
            for &number in objects.overlapping(access.obj) {
                let obj = objects.get(number);
                let slot = WindowAccess { thread, touch, obj: access.obj, position };
                windows[number as usize].add(slot, &mut |slots| note(obj, slots));
            }
        }
    }
    for (window, number) in windows.iter_mut().zip(0..) {
        window.end(&mut |slots| note(objects.get(number), slots));
    }
    found
}
