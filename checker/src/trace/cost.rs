//! The costs of a schedule: preemptions, delays, variables, threads. Pure functions.
//!
//! * Preemptions: Madanlal Musuvathi, Shaz Qadeer: Iterative Context Bounding for Systematic Testing of Multithreaded
//!   Programs, PLDI 2007.
//! * Delays: Michael Emmi, Shaz Qadeer, Zvonimir Rakamarić: Delay-Bounded Scheduling, POPL 2011.
//! * Variables, threads: Sandeep Bindal, Sorav Bansal, Akash Lal: Variable and Thread Bounding for Systematic Testing
//!   of Multithreaded Programs, ISSTA 2013.

use std::collections::BTreeSet;

use super::{Previous, Trace, TraceStep};
use crate::event::agent::{Agent, Choice};
use crate::event::names::{Obj, ThreadName};
use crate::event::operation::OpKind;
use crate::hb::vector_clock::{Clock, Clocks};
use crate::hb::{AccessHistories, Positions};

/// The preemptions of one choice: 1 for leaving a thread that could go on. The choice of the waiter that wakes, a time-out and
/// a flush cost nothing.
#[must_use]
pub fn preemption(last: Previous, choice: Choice) -> u32 {
    match (last, choice.agent) {
        (Previous::Runnable(running), Agent::Thread(next)) => u32::from(running != next),
        _ => 0,
    }
}

/// The delays of one choice: the number of threads of `choices` that a non-preemptive round-robin scheduler skips to make it.
///
/// The round goes by creation path, which is creation order where one thread creates, and unlike that does not depend
/// on the schedule.
#[must_use]
pub fn delay(last: Previous, choices: &[Choice], choice: Choice) -> u32 {
    let Agent::Thread(chosen) = choice.agent else { return 0 };
    let turn = |thread| turn(last, thread);
    let mut skipped = 0;
    let mut before = None;
    for other in choices {
        if let Agent::Thread(other) = other.agent {
            // The ways in which one thread can go stand together.
            skipped += u32::from(turn(other) < turn(chosen) && before != Some(other));
            before = Some(other);
        }
    }
    skipped
}

/// The rank of a thread in the turns after `last`, which itself is first; or last, if it gives way again.
pub(crate) fn turn(last: Previous, thread: ThreadName) -> (bool, bool, ThreadName) {
    (last == Previous::Yielding(thread), last.thread().is_some_and(|last| thread < last), thread)
}

/// The preemptions of a schedule, as it was run.
#[must_use]
pub fn preemptions(trace: &Trace) -> u32 {
    trace.steps.iter().map(|step| preemption(step.last, step.choice)).sum()
}

/// The number of times that another thread runs than before.
pub(crate) fn switches(steps: &[TraceStep]) -> u32 {
    steps.iter().filter(|step| step.reason.is_switch()).count() as u32
}

/// The delays of a schedule, as it was run.
#[must_use]
pub fn delays(trace: &Trace) -> u32 {
    trace.steps.enumerate().map(|(at, step)| delay(step.last, trace.choices(at), step.choice)).sum()
}

/// The number of different variables that the preempted threads had accessed last, at the preemptions of a schedule. A thread
/// that had accessed none counts as the variable "start".
#[must_use]
pub fn variables(trace: &Trace) -> u32 {
    let preempted = trace.steps.enumerate().filter(|(_, step)| preemption(step.last, step.choice) > 0);
    let variables: BTreeSet<Option<Obj>> = preempted
        .filter_map(|(at, step)| Some(last_accessed(&trace.steps[..at], step.last.thread()?)))
        .collect();
    variables.len() as u32
}

pub(crate) fn last_accessed(steps: &[TraceStep], thread: ThreadName) -> Option<Obj> {
    let own = steps.iter().rev().filter(|step| step.event.id.thread == thread);
    own.flat_map(|step| step.event.did.accesses.last()).map(|access| access.obj).next()
}

/// The number of threads that have an event that directly conflicts with one of another thread, where their order is the
/// schedule's doing, and not that of creations and joins; at least 2.
///
/// Ordering these threads as they were gives the same happens-before, so this is never below the thread bound of what
/// the schedule shows, and equals it where it is 2.
#[must_use]
pub fn threads(trace: &Trace) -> u32 {
    let forced = forced_order(trace);
    let mut objects = AccessHistories::default();
    let mut constrained = BTreeSet::new();
    for (later, step) in trace.steps.enumerate() {
        let mut before = Positions::new();
        objects.conflicts(&step.event.did, &mut before);
        for earlier in before {
            let (one, other) = (trace.steps[earlier].event.id.thread, step.event.id.thread);
            if one != other && !forced.get(earlier).is_before(forced.get(later)) {
                constrained.extend([one, other]);
            }
        }
        let thread =
            trace.threads.iter().position(|&known| known == step.event.id.thread).unwrap_or(usize::MAX);
        objects.record(&step.event.did, thread as u32, later);
    }
    (constrained.len() as u32).max(2)
}

/// The order that program order, creations and joins alone impose.
pub(crate) fn forced_order(trace: &Trace) -> Clocks {
    let index = |name: ThreadName| trace.threads.iter().position(|&known| known == name);
    let mut now = vec![Clock::default(); trace.threads.len()];
    let mut clocks = Clocks::default();
    for step in &trace.steps {
        let event = &step.event;
        let me = index(event.id.thread).unwrap_or(0);
        let peer = event.op.peer.and_then(index);
        if let (OpKind::Join, Some(peer)) = (event.op.kind, peer) {
            let end = now[peer].clone();
            now[me].join(end.by_ref());
        }
        now[me].set(me, event.id.index + 1);
        if let Some(peer) = peer.filter(|_| event.op.kind.creates()) {
            let start = now[me].clone();
            now[peer].join(start.by_ref());
        }
        clocks.push(now[me].by_ref());
    }
    clocks
}
