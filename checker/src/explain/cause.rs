//! What kind of mistake it is, chosen from what was found out.
//!
//! Where threads wait for each other, what they wait for tells; else the pattern that failing executions have in common,
//! and of several such the one that the critical pair is part of.

use super::alone;
use super::evidence::Evidence;
use super::falcon::{Seen, Suspect};
use super::pair::{CriticalPair, Second, Swap};
use super::past::past;
use super::signs;
use super::torn::{Torn, torn};
use super::waiting::{circling, waiting};
use crate::failure::{Failure, FailureKind, Party};
use crate::names::{Obj, ThreadName};
use crate::op::{Access, Mode, OpKind};
use crate::recorded::Recorded;
use crate::seam::On;
use crate::trace::{Trace, TraceStep};

/// A pattern with a lower score says little, and so does one of more than so many equal ones.
const CLEAR: f64 = 0.5;
const FEW: u32 = 3;

/// A class of mistakes, with who and what.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Cause {
    /// A thread waits for a lock that it holds itself, since the event at this position.
    DoubleLock {
        /// The thread.
        thread: ThreadName,
        /// The lock.
        lock: Obj,
        /// Where it took the lock.
        taken: Option<u32>,
    },
    /// Threads each hold a lock that the next one waits for.
    LockOrder(Vec<Link>),
    /// Threads each wait for the next one, and not all of them for a lock that it has.
    Circle(Vec<Link>),
    /// A thread waits for a lock, or a semaphore that is used as one, that another thread took and ended with.
    MissingRelease(Link),
    /// A signal came before the wait that it was meant for.
    LostWakeUp {
        /// Who waits.
        thread: ThreadName,
        /// The condition variable, or futex.
        condition: Obj,
        /// The position of the signal.
        signal: u32,
    },
    /// Nobody wakes a thread up any more.
    MissedNotification {
        /// Who waits.
        thread: ThreadName,
        /// The condition variable, or semaphore.
        condition: Obj,
        /// The last signal, if there was one.
        last: Option<Given>,
        /// What another thread has written after that, and after the one that waits had looked at it.
        changed: Option<Seen>,
    },
    /// A thread was woken up for what another one had taken by then, and goes on all the same.
    StolenWakeUp(Stolen),
    /// A thread tries to take a lock, and goes on without it.
    FailedTry {
        /// The position of the attempt.
        attempt: u32,
        /// Which lock.
        lock: Obj,
        /// Who had it, and since which event.
        held: Option<(ThreadName, u32)>,
    },
    /// A compare-and-swap succeeds although what it compares was changed, and changed back.
    Aba([Seen; 4]),
    /// Threads wait for what nobody does; those come first that wait for no other thread. All that is known of this is the
    /// execution that fails.
    Standstill(Vec<Stuck>),
    /// Threads run on and change nothing.
    Livelock(Vec<Circling>),
    /// A block is used after it was freed.
    UseAfterFree(Life),
    /// A block is freed twice.
    DoubleFree(Life),
    /// A thread writes over what another one has written since it has read, and has not looked again.
    LostUpdate(Vec<Seen>),
    /// Another thread's access comes between two of a thread.
    Atomicity(Vec<Seen>),
    /// Another thread sees an update of two variables half done.
    Torn(Torn),
    /// Two accesses come in the wrong order.
    Order(Vec<Seen>),
    /// No pattern of accesses tells failing executions from others, but the order of two events does.
    Pair(Swap),
    /// Nothing that was looked at tells failing executions from others.
    Unclear,
}

/// A signal, and whom it woke.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Given {
    /// The position of the signal.
    pub signal: u32,
    /// Whom it woke.
    pub woken: Vec<Woken>,
}

/// A thread that a signal woke.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Woken {
    /// The thread.
    pub thread: ThreadName,
    /// The position of the event with which it waits again, if it has changed nothing by then.
    pub again: Option<u32>,
    /// What another thread has written after the signal, and what the thread has read before it waited again.
    pub overtaken: Option<Seen>,
}

/// How what a thread was woken up for came to be gone.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stolen {
    /// Who was woken.
    pub thread: ThreadName,
    /// The condition variable.
    pub condition: Obj,
    /// The position of the event with which it began to wait.
    pub wait: u32,
    /// The position of the signal.
    pub signal: u32,
    /// The write to what the thread had looked at before it waited: after the signal, and before the thread could go on.
    pub write: Seen,
}

/// The end of a block's life, and what came after it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Life {
    /// The block, as far as it was used or freed again.
    pub block: Obj,
    /// The position of the event that came too late.
    pub late: u32,
    /// Who freed the block.
    pub freed_by: ThreadName,
    /// That the block is freed after that event is possible, and ends well.
    pub unordered: bool,
}

/// A thread that waits for another one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Link {
    /// The thread.
    pub thread: ThreadName,
    /// Whom it waits for.
    pub owner: ThreadName,
    /// To do what.
    pub wants: Wants,
}

/// What a thread waits for another one to do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Wants {
    /// To give back a lock, or a semaphore that is used as one, which it took in the event at this position.
    Lock(Obj, Option<u32>),
    /// To take this lock, which it waits for to write: until then no reader gets in.
    Turn(Obj),
    /// To post this semaphore.
    Post(Obj),
    /// To signal this condition variable.
    Signal(Obj),
    /// To arrive at this barrier.
    Arrival(Obj),
    /// To end.
    End,
}

/// A thread that waits at the end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stuck {
    /// The thread.
    pub thread: ThreadName,
    /// What it waits for.
    pub on: On,
    /// Who has the lock that it waits for, if that is one, and since the event at this position.
    pub held: Option<(ThreadName, Option<u32>)>,
    /// The position of the event after which nobody did what it waits for: the last signal, or the last time that somebody took
    /// from the semaphore.
    pub last: Option<u32>,
    /// Who comes to the barrier where it waits in executions that end well, and not in this one.
    pub absent: Vec<ThreadName>,
}

/// A thread that does the same again and again.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Circling {
    /// The thread.
    pub thread: ThreadName,
    /// What its loop looks at, one of which would have to change; empty if it only gives way.
    pub awaits: Vec<Obj>,
    /// The position of the last event in which another thread changed one of these.
    pub changed: Option<u32>,
}

/// A cause, and how sure it is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnosis {
    /// The cause.
    pub cause: Cause,
    /// How both threads came past a lock of the program's own: one reads it, the other one writes it, and then the first one
    /// does.
    pub past: Option<[Seen; 3]>,
    /// What threads wait for, where nobody can go on and the cause is an order of something else.
    pub stuck: Vec<Stuck>,
    /// The evidence is thin: the pattern is not in every failing execution alone, or one of many.
    pub thin: bool,
}

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
        kind if pair.is_none() && evidence.passing.is_empty() => alone::cause(kind, failure, trace),
        FailureKind::Deadlock | FailureKind::DeadlockButTimeouts => waiting(trace, swap, &evidence.passing),
        FailureKind::Livelock => Some(Cause::Livelock(circling(trace))),
        FailureKind::UseAfterFree => life(failure, trace, swap).map(Cause::UseAfterFree),
        FailureKind::DoubleFree => life(failure, trace, swap).map(Cause::DoubleFree),
        _ => None,
    };
    if let Some(cause) = certain {
        return Diagnosis { cause, past: None, stuck: Vec::new(), thin: false };
    }
    let is_stuck = matches!(failure.kind, FailureKind::Deadlock | FailureKind::DeadlockButTimeouts);
    let stuck = if is_stuck { alone::stuck(trace, &evidence.passing) } else { Vec::new() };
    if let Some(cause) = signs::cause(trace, swap, evidence) {
        let stuck = stuck.into_iter().filter(|stuck| is_beside(stuck, None)).collect();
        return Diagnosis { cause, past: None, stuck, thin: false };
    }
    let suspect = chosen(trace, suspects, pair);
    let is_thin = |suspect: &Suspect| suspect.score < CLEAR || suspect.tied > FEW;
    let thin = suspect.is_none_or(|suspect| is_thin(suspect) && !is_tried(trace, suspect, swap));
    let is_of_same = |suspect: &Suspect, swap: Swap| {
        let touched = &trace.steps[swap.first as usize].event.did.accesses;
        suspect.seen.iter().any(|seen| touched.iter().any(|access| access.obj.overlaps(&seen.obj)))
    };
    // That the swap passes is certain. An order that was not tried is a guess, however often it was seen, and so is what is
    // done to something else, and not in every failing execution alone.
    let is_guess = |suspect: &Suspect, swap: Swap| {
        let is_told_better = thin || is_order(suspect) || suspect.score < 1.0 && !is_of_same(suspect, swap);
        is_told_better && (thin || data(trace, swap).is_some()) && !has_pair(trace, suspect, &[swap])
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
    let past = seen(&cause).and_then(|told| past(told, trace, evidence));
    let stuck = stuck.into_iter().filter(|stuck| is_beside(stuck, seen(&cause))).collect();
    Diagnosis { cause, past, stuck, thin }
}

/// Whether an update of two variables says more than what is known of one. A thread that reads what another one has written
/// mostly reads it in the order that is wanted. One that reads what another one has not written yet may be too early, unless it
/// reads the other variable only after that.
fn says_more(torn: &Torn, cause: &Cause) -> bool {
    match cause {
        Cause::Pair(_) => true,
        Cause::Order(seen) => match seen[..] {
            [Seen { writes: true, .. }, Seen { writes: false, .. }] => true,
            [read, Seen { writes: true, .. }] if !read.writes => {
                torn.stale.obj.overlaps(&read.obj) && torn.stale.position < torn.seen.position
            }
            _ => false,
        },
        _ => false,
    }
}

/// Whether it helps to know what a thread waits for. A word that it sleeps on tells something if the cause is one of that word.
fn is_beside(stuck: &Stuck, told: Option<&[Seen]>) -> bool {
    let On::Futex(word) = stuck.on else { return true };
    told.into_iter().flatten().any(|seen| seen.obj.overlaps(&word))
}

/// The pattern that a cause is.
fn seen(cause: &Cause) -> Option<&[Seen]> {
    match cause {
        Cause::LostUpdate(seen) | Cause::Atomicity(seen) | Cause::Order(seen) => Some(seen),
        _ => None,
    }
}

fn of_pattern(trace: &Trace, seen: Vec<Seen>) -> Cause {
    let writes: Vec<bool> = seen.iter().map(|seen| seen.writes).collect();
    match writes[..] {
        [false, true, true] if !reads_again(trace, &seen) => Cause::LostUpdate(seen),
        [true, true, true] => lost_update(trace, &seen[1..]).unwrap_or(Cause::Atomicity(seen)),
        [_, _, _] => Cause::Atomicity(seen),
        [true, true] => lost_update(trace, &seen).unwrap_or(Cause::Order(seen)),
        _ => Cause::Order(seen),
    }
}

/// What the order of two events is: two accesses to data make a pattern, whatever the score of others.
fn of_swap(trace: &Trace, swap: Swap) -> Cause {
    let Some(seen) = data(trace, swap) else { return Cause::Pair(swap) };
    undone(trace, seen).unwrap_or_else(|| of_pattern(trace, seen.to_vec()))
}

/// Of a read and another thread's write after it, whether the first thread then writes over that without having looked again.
fn undone(trace: &Trace, [read, remote]: [Seen; 2]) -> Option<Cause> {
    let after = remote.position as usize + 1;
    let touches = |step: &&TraceStep| {
        step.event.id.thread == read.thread
            && step.event.did.accesses.iter().any(|access| access.obj.overlaps(&read.obj))
    };
    let next = trace.steps[after..].iter().position(|step| touches(&step))? + after;
    let is_plain = trace.steps[next].event.op.kind == OpKind::Write;
    let local = Seen { writes: true, position: next as u32, ..read };
    (!read.writes && remote.writes && is_plain).then(|| Cause::LostUpdate(vec![read, remote, local]))
}

/// The two events of a swap, if both only read or write, and the same.
fn data(trace: &Trace, swap: Swap) -> Option<[Seen; 2]> {
    let Second::Event(second) = swap.second else { return None };
    let [first, second] = [swap.first, second].map(|at| (at, &trace.steps[at as usize].event));
    let is_plain = |event: &Recorded| matches!(event.op.kind, OpKind::Read | OpKind::Write);
    let all = || {
        first.1.did.accesses.iter().flat_map(|one| second.1.did.accesses.iter().map(move |two| (one, two)))
    };
    let (one, two) = all().find(|(one, two)| one.obj.overlaps(&two.obj))?;
    let seen = |(position, event): (u32, &Recorded), access: &Access| Seen {
        thread: event.id.thread,
        writes: access.mode == Mode::Write,
        obj: access.obj,
        position,
    };
    (is_plain(first.1) && is_plain(second.1)).then(|| [seen(first, one), seen(second, two)])
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
    let is = |seen: &Seen, position: u32| {
        let [event, known] = [position, seen.position].map(|at| &trace.steps[at as usize].event);
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
        let thread = |at: u32| trace.steps[at as usize].event.id.thread;
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
fn reads_again(trace: &Trace, seen: &[Seen]) -> bool {
    let [first, remote, local] = seen else { return false };
    let own = trace.steps[remote.position as usize..local.position as usize].iter();
    own.filter(|step| step.event.id.thread == first.thread).any(|step| {
        let accesses = &step.event.did.accesses;
        accesses.iter().any(|access| access.mode == Mode::Read && access.obj.overlaps(&first.obj))
    })
}

/// Of two writes, whether the second one is made by who has not seen the first one.
fn lost_update(trace: &Trace, writes: &[Seen]) -> Option<Cause> {
    let read = read_before(trace, writes)?;
    Some(Cause::LostUpdate(std::iter::once(read).chain(writes.iter().copied()).collect()))
}

/// Of two writes, what the second one's thread did to the object just before it, if that was to read it before the first
/// write: the thread writes over what it has never seen. An operation that reads and writes at once sees it.
fn read_before(trace: &Trace, seen: &[Seen]) -> Option<Seen> {
    let &[remote, local] = seen else { return None };
    let steps = &trace.steps[..local.position as usize];
    let touches = |step: &TraceStep| {
        step.event.id.thread == local.thread
            && step.event.did.accesses.iter().any(|access| access.obj.overlaps(&local.obj))
    };
    let position = steps.iter().rposition(touches)?;
    let is_read = steps[position].event.op.kind == OpKind::Read;
    let is_stale = position < remote.position as usize;
    let is_plain = trace.steps[local.position as usize].event.op.kind == OpKind::Write;
    let read = Seen { thread: local.thread, writes: false, obj: local.obj, position: position as u32 };
    (is_read && is_stale && is_plain && remote.thread != local.thread).then_some(read)
}

/// What became of a block that was freed: the last event of the thread that failed, if that was it.
pub(super) fn life(failure: &Failure, trace: &Trace, swap: Option<Swap>) -> Option<Life> {
    let freed_by = failure.others.iter().find(|party| party.doing == Party::FREED)?.thread;
    let late = trace.steps.iter().rposition(|step| Some(step.event.id.thread) == failure.thread)?;
    let touched = |event: &Recorded| event.did.accesses.iter().map(|access| access.obj).collect::<Vec<Obj>>();
    let block = touched(&trace.steps[late].event).into_iter().find(|obj| obj.name.is_allocated())?;
    let frees = |step: &TraceStep| {
        step.event.op.kind == OpKind::Free && touched(&step.event).iter().any(|obj| obj.overlaps(&block))
    };
    let freed = trace.steps[..late].iter().rposition(frees);
    let is_swapped =
        |swap: Swap| Some(swap.first as usize) == freed && swap.second == Second::Event(late as u32);
    Some(Life { block, late: late as u32, freed_by, unordered: swap.is_some_and(is_swapped) })
}
