//! Waits for a signal: on condition variables, and as libraries make them of a counter.
//!
//! A thread that waits reads the counter, gives a lock back, sleeps for as long as the counter is what was read, and takes the
//! lock again; a notification adds to the counter before it wakes the threads that sleep there. So does Rust's `Condvar` where
//! its functions cannot be told from the program's own code, and its locks perhaps neither.

use rustc_hash::FxHashMap;

use super::cause;
use super::cause::{Cause, SignalDelivery};
use crate::event::lock_action::Hold;
use crate::event::names::{Obj, Site, ThreadName};
use crate::event::operation::{Access, OpKind};
use crate::event::position::Position;
use crate::event::wait::BlockedOn;
use crate::trace::queries::{blocked, is_signal, touches, writes};
use crate::trace::{Trace, TraceStep};

/// A wait, with the lock given back.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct ConditionWait {
    pub(super) thread: ThreadName,
    /// The position of the event with which it begins.
    pub(super) begins: Position,
    /// The instruction that it is known by. All waits of Rust's library are at one, so that it is where the thread looked last.
    pub(super) site: Site,
    /// The counter that it waits on, if it waits on one.
    counter: Option<Obj>,
    /// The signal that ended it, if one did.
    pub(super) woken: Option<SignalWakeup>,
}

/// The end of a wait by a signal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct SignalWakeup {
    /// The condition variable, or the counter.
    pub(super) condition: Obj,
    /// The position of the signal.
    pub(super) signal: Position,
    /// The position of the event with which the thread has the lock again.
    pub(super) at: Position,
}

/// The words that threads sleep on in these executions.
pub(super) fn slept_on<'t>(traces: impl Iterator<Item = &'t Trace>) -> Vec<Obj> {
    let mut words = Vec::new();
    for trace in traces {
        let sleeps = trace.steps.iter().filter(|step| step.event.op.kind == OpKind::FutexWait);
        words.extend(sleeps.flat_map(|step| step.event.did.accesses.iter().map(|access| access.obj)));
        words.sort_unstable();
        words.dedup();
    }
    words
}

/// All waits of an execution, in the order in which they begin. A thread that finds the counter changed does not sleep, so that
/// the words that threads sleep on are those of all executions.
pub(super) fn waits(trace: &Trace, slept_on: &[Obj]) -> Vec<ConditionWait> {
    let mut waits = Waits { trace, slept_on, found: Vec::new(), threads: FxHashMap::default() };
    trace.steps.enumerate().for_each(|(at, step)| waits.see(at, step));
    waits.found
}

/// The cause for which a thread sleeps on a counter at the end: no thread has counted since it read that, and the last count
/// has ended another wait, or none.
pub(super) fn unanswered(trace: &Trace) -> Option<Cause> {
    let waits = waits(trace, &slept_on(std::iter::once(trace)));
    let mut on_counter = blocked(trace).filter_map(|(view, on)| {
        let BlockedOn::Futex(word) = *on else { return None };
        let thread = view.agent.thread();
        let wait = waits.iter().rfind(|wait| wait.thread == thread)?;
        let counter = wait.counter.filter(|counter| counter.overlaps(&word) && wait.woken.is_none())?;
        Some((thread, counter))
    });
    let (thread, condition) = on_counter.next()?;
    let missed = |last| Cause::MissedNotification { thread, condition, last, changed: None };
    let counts = |step: &TraceStep| {
        let is_it = |access: &Access| access.obj.overlaps(&condition) && writes(access);
        let is_own = step.event.id.thread == thread || !step.event.op.kind.is_access();
        !is_own && step.event.did.accesses.iter().any(is_it)
    };
    let Some(signal) = trace.steps.rposition(counts) else {
        return Some(missed(None));
    };
    let woken: Vec<cause::WokenThread> =
        waits.iter().filter_map(|wait| given(trace, &waits, wait, signal)).collect();
    let is_lost = woken.is_empty();
    Some(if is_lost {
        Cause::LostWakeUp { thread, condition, signal }
    } else {
        missed(Some(SignalDelivery { signal, woken }))
    })
}

/// The further course of a wait that a signal ended, if it was this one.
fn given(
    trace: &Trace,
    waits: &[ConditionWait],
    wait: &ConditionWait,
    signal: Position,
) -> Option<cause::WokenThread> {
    let woken = wait.woken.filter(|woken| woken.signal == signal)?;
    let is_next = |next: &&ConditionWait| next.thread == wait.thread && next.begins > woken.at;
    let next = waits.iter().find(is_next).map(|next| next.begins);
    let again = next.filter(|_| is_in_vain(trace, waits, wait.thread, woken));
    Some(cause::WokenThread { thread: wait.thread, again, overtaken: None })
}

struct Waits<'t> {
    trace: &'t Trace,
    slept_on: &'t [Obj],
    found: Vec<ConditionWait>,
    threads: FxHashMap<ThreadName, Own>,
}

/// The state of a thread: its last look, and its progress with a wait.
#[derive(Clone, Copy, Default)]
struct Own {
    /// Its last access of memory but for counters.
    looked: Option<Site>,
    stage: WaitProgress,
}

/// The progress of a thread with a wait.
#[derive(Clone, Copy, Default)]
enum WaitProgress {
    #[default]
    Runs,
    /// It read a counter, in the event before.
    Read { counter: Obj, at: Position },
    /// It waits, on a counter; the number of the wait, and the lock that was given back.
    OnCounter { counter: Obj, wait: usize, lock: Obj },
    /// It waits, on a condition variable; the number of the wait.
    OnCondition(usize),
}

impl Waits<'_> {
    fn see(&mut self, at: Position, step: &TraceStep) {
        let (thread, kind) = (step.event.id.thread, step.event.op.kind);
        let mut own = self.threads.get(&thread).copied().unwrap_or_default();
        let obj = step.event.did.accesses.first().map(|access| access.obj);
        let counter = obj.filter(|obj| self.slept_on.iter().any(|word| word.overlaps(obj)));
        if kind.is_access() && counter.is_none() {
            own.looked = Some(step.event.site);
        }
        let [acquired, released] =
            [step.event.acquired(), step.event.released()].map(|hold| hold == Some(Hold::Exclusive));
        own.stage = match (own.stage, kind) {
            (_, OpKind::CondWait) => WaitProgress::OnCondition(self.begin(thread, at, step.event.site, None)),
            (WaitProgress::OnCondition(wait), OpKind::Reacquire) => {
                self.found[wait].woken = woken_by(self.trace, &self.found[wait], at);
                WaitProgress::Runs
            }
            (WaitProgress::Read { counter, at: begins }, _)
                if (kind == OpKind::Update || released) && !touches(step, counter) =>
            {
                let read = self.trace.steps[begins].event.site;
                let wait = self.begin(thread, begins, own.looked.unwrap_or(read), Some(counter));
                obj.map_or(WaitProgress::Runs, |lock| WaitProgress::OnCounter { counter, wait, lock })
            }
            (WaitProgress::OnCounter { counter, wait, lock }, _)
                if (kind == OpKind::CompareExchange || acquired) && touches(step, lock) =>
            {
                self.found[wait].woken = counted(self.trace, counter, (self.found[wait].begins, at));
                WaitProgress::Runs
            }
            (stage @ WaitProgress::OnCondition(_), _) => stage,
            (stage @ WaitProgress::OnCounter { counter, .. }, _) if is_of_sleep(step, counter) => stage,
            (_, OpKind::Read) => {
                counter.map_or(WaitProgress::Runs, |counter| WaitProgress::Read { counter, at })
            }
            _ => WaitProgress::Runs,
        };
        self.threads.insert(thread, own);
    }

    fn begin(&mut self, thread: ThreadName, begins: Position, site: Site, counter: Option<Obj>) -> usize {
        self.found.push(ConditionWait { thread, begins, site, counter, woken: None });
        self.found.len() - 1
    }
}

/// Whether a thread does this in order to sleep on a counter.
fn is_of_sleep(step: &TraceStep, counter: Obj) -> bool {
    match step.event.op.kind {
        OpKind::Read => touches(step, counter),
        OpKind::FutexWait | OpKind::FutexResume | OpKind::Timeout => true,
        _ => false,
    }
}

/// The end of a wait on a condition variable, where a signal ends it.
fn woken_by(trace: &Trace, wait: &ConditionWait, at: Position) -> Option<SignalWakeup> {
    let by = trace.steps[at].event.woken_by()?;
    let signal = trace.steps.rposition_before(at, |step| step.event.id == by)?;
    let is_it = |access: &&Access| is_signal(&trace.steps[signal], access.obj);
    let condition = trace.steps[wait.begins].event.did.accesses.iter().find(is_it)?.obj;
    Some(SignalWakeup { condition, signal, at })
}

/// The end of a wait on a counter, where a thread has counted meanwhile.
fn counted(trace: &Trace, counter: Obj, (begins, at): (Position, Position)) -> Option<SignalWakeup> {
    let between = trace.steps.between(begins, at);
    let mut counts = between.filter(|(_, step)| {
        step.event.did.accesses.iter().any(|access| access.obj.overlaps(&counter) && writes(access))
    });
    counts.next().map(|(signal, _)| SignalWakeup { condition: counter, signal, at })
}

/// Whether a thread that was woken waits again before it has changed anything, or given the lock back.
pub(super) fn is_in_vain(
    trace: &Trace,
    waits: &[ConditionWait],
    thread: ThreadName,
    woken: SignalWakeup,
) -> bool {
    let after = trace.steps.since(woken.at.next());
    let mut own = after.filter(|(_, step)| step.event.id.thread == thread);
    let waits = |at: Position| waits.iter().any(|wait| wait.thread == thread && wait.begins == at);
    let over = own.find(|(at, step)| {
        let does = step.event.op.kind;
        let changes = does.is_access() && step.event.did.accesses.iter().any(writes);
        waits(*at) || changes || step.event.released() == Some(Hold::Exclusive)
    });
    over.is_some_and(|(at, _)| waits(at))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explain::tests::{found, model};
    use crate::search::Options;

    /// The waits of the execution that fails, with `c` as a counter: where they begin, and what ends them.
    fn told(text: &str) -> Vec<String> {
        let trace = found(text, &Options::default()).trace;
        let all = trace.steps.iter().flat_map(|step| step.event.did.accesses.iter().map(|access| access.obj));
        let counters: Vec<Obj> = all.filter(|&obj| model(text).name_of(obj).unwrap() == "c").collect();
        let event = |at: Position| {
            let event = &trace.steps[at].event;
            format!("{} {:?}", event.id.thread.path().first().map_or(1, |last| last + 1), event.op.kind)
        };
        let told = |wait: &ConditionWait| {
            let woken = wait.woken.map(|woken| format!(", {}, {}", event(woken.signal), event(woken.at)));
            format!("{}{}", event(wait.begins), woken.unwrap_or_default())
        };
        waits(&trace, &counters).iter().map(told).collect()
    }

    const GOES_ON: &str = "lock m, r n, assert n == 0";

    #[test]
    fn who_waits_on_a_condition_variable_is_woken_by_its_signal() {
        let text = "create T2, lock m, r n, if n == 0 { wait c m, r n, assert n == 0 }, unlock m \
                    | T2: lock m, w n 1, signal c, unlock m";
        assert_eq!(told(text), ["1 CondWait, 2 Signal, 1 Reacquire"]);
    }

    #[test]
    fn who_waits_on_a_counter_is_woken_by_who_counts() {
        let gives = "T2: lock m, w n 1, r c, w c c+1, unlock m";
        let text = format!(
            "create T2, lock m, r n, if n == 0 {{ r c, unlock m, r c, {GOES_ON} }}, unlock m | {gives}"
        );
        assert_eq!(told(&text), ["1 Read, 2 Write, 1 Lock"]);
        let other = format!(
            "create T2, lock m, r n, if n == 0 {{ r c, unlock m, r n, {GOES_ON} }}, unlock m | {gives}"
        );
        assert_eq!(told(&other), ["1 Read"]);
    }
}
