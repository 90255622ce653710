//! The holders of locks at the end of an execution, and the events since which they hold them; and the semaphores that are used
//! as locks.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::event::lock_action::{Hold, LockAction};
use crate::event::names::{Obj, Site, ThreadName};
use crate::event::position::Position;
use crate::trace::queries::{is_post, touches};
use crate::trace::{Trace, TraceStep};

/// A lock that was taken and not given back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Held {
    /// The thread that has it.
    pub(super) thread: ThreadName,
    /// The position of the event that took it.
    pub(super) taken: Position,
    /// It was taken to read: others can have it as well.
    pub(super) reads: bool,
}

/// The holders of a lock, or of units of a semaphore, at this point of an execution.
pub(super) fn held_after(trace: &Trace, end: Position, lock: Obj) -> Vec<Held> {
    let mut held: Vec<Held> = Vec::new();
    for (position, step) in trace.steps.between(Position::START, end).filter(|(_, step)| touches(step, lock))
    {
        let thread = step.event.id.thread;
        match step.event.did_to(lock) {
            Some(LockAction::Acquire(hold) | LockAction::TryAcquire(hold)) => {
                held.push(Held { thread, taken: position, reads: hold == Hold::Shared });
            }
            Some(LockAction::Release(_)) => {
                let own = held.iter().rposition(|held| held.thread == thread);
                if own.is_some() || !held.is_empty() {
                    held.remove(own.unwrap_or(0));
                }
            }
            Some(LockAction::Reset) => held.clear(),
            None => {}
        }
    }
    held
}

/// The places where a semaphore is taken as a lock is: in these executions, a thread that takes it there gives it back more
/// often than not. It does no harm that a thread keeps it where no other one wants it any more.
pub(super) fn lock_sites(traces: &[Trace], semaphore: Obj) -> FxHashSet<Site> {
    let mut balance: FxHashMap<Site, i64> = FxHashMap::default();
    for trace in traces {
        let mut open: FxHashMap<ThreadName, Site> = FxHashMap::default();
        for step in trace.steps.iter().filter(|step| touches(step, semaphore)) {
            let (thread, site) = (step.event.id.thread, step.event.site);
            let (given_back, kept) = match step.event.did_to(semaphore) {
                Some(LockAction::Acquire(_) | LockAction::TryAcquire(_)) => (None, open.insert(thread, site)),
                Some(LockAction::Release(_)) => (open.remove(&thread), None),
                Some(LockAction::Reset) | None => (None, None),
            };
            given_back.into_iter().for_each(|site| *balance.entry(site).or_default() += 1);
            kept.into_iter().for_each(|site| *balance.entry(site).or_default() -= 1);
        }
        open.into_values().for_each(|site| *balance.entry(site).or_default() -= 1);
    }
    balance.into_iter().filter(|(_, balance)| *balance > 0).map(|(site, _)| site).collect()
}

/// Whether a thread posts a semaphore in some of these executions.
pub(super) fn posts(traces: &[Trace], semaphore: Obj, thread: ThreadName) -> bool {
    let is_it = |step: &TraceStep| step.event.id.thread == thread && is_post(step, semaphore);
    traces.iter().any(|trace| trace.steps.iter().any(is_it))
}

/// The threads that do such a thing more often in each of these executions than in this one: they would have done so again.
pub(super) fn would(trace: &Trace, passing: &[Trace], is_it: &dyn Fn(&TraceStep) -> bool) -> Vec<ThreadName> {
    let times = |trace: &Trace, thread: ThreadName| {
        trace.steps.iter().filter(|step| step.event.id.thread == thread && is_it(step)).count()
    };
    let would = |thread: &ThreadName| {
        let here = times(trace, *thread);
        !passing.is_empty() && passing.iter().all(|other| times(other, *thread) > here)
    };
    trace.threads.iter().copied().filter(would).collect()
}
