//! Points at which threads are preempted, in words that mean the same however many of their accesses are key points.

use std::collections::BTreeMap;

use super::sets::Variable;
use crate::event::names::{Obj, ThreadName};
use crate::event::operation::Op;
use crate::event::position::Position;
use crate::trace::Trace;

/// The point right after an event of a thread, by the events of that thread so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct PreemptionPoint {
    pub(super) thread: ThreadName,
    /// The variable that it accessed last.
    pub(super) variable: Variable,
    /// Of the thread, up to there.
    pub(super) count: AccessCount,
}

/// The number of times that a thread has accessed a variable, and the number of its events that were no accesses: no other
/// access comes between two places that agree in the thread, in the variable accessed last, and in both numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct AccessCount {
    accesses: u32,
    others: u32,
}

impl AccessCount {
    /// With one more event of the thread.
    pub(super) fn with(self, op: &Op, variable: Variable) -> Self {
        let touches = op.may.accesses.iter().any(|access| Some(access.obj) == variable);
        Self {
            accesses: self.accesses + u32::from(touches),
            others: self.others + u32::from(!op.kind.is_access()),
        }
    }
}

/// The places before these events, in order, each of which is of the thread that ran the event before.
pub(super) fn places(run: &Trace, before: impl Iterator<Item = Position>) -> Vec<PreemptionPoint> {
    let mut accesses: BTreeMap<(ThreadName, Obj), u32> = BTreeMap::new();
    let mut others: BTreeMap<ThreadName, u32> = BTreeMap::new();
    let mut last: BTreeMap<ThreadName, Obj> = BTreeMap::new();
    let mut places = Vec::new();
    let mut running = None;
    let mut steps = run.steps.enumerate().peekable();
    for at in before {
        while let Some((_, step)) = steps.next_if(|(nth, _)| *nth < at) {
            let (event, thread) = (&step.event, step.event.id.thread);
            let mut touched: Vec<Obj> = event.op.may.accesses.iter().map(|access| access.obj).collect();
            touched.sort_unstable();
            touched.dedup();
            touched.into_iter().for_each(|obj| *accesses.entry((thread, obj)).or_default() += 1);
            *others.entry(thread).or_default() += u32::from(!event.op.kind.is_access());
            last.extend(event.did.accesses.last().map(|access| (thread, access.obj)));
            running = Some(thread).filter(|_| step.is_own()).or(running);
        }
        places.extend(running.map(|thread| {
            let variable = last.get(&thread).copied();
            let accesses = variable.and_then(|obj| accesses.get(&(thread, obj)).copied()).unwrap_or(0);
            let others = others.get(&thread).copied().unwrap_or(0);
            PreemptionPoint { thread, variable, count: AccessCount { accesses, others } }
        }));
    }
    places
}
