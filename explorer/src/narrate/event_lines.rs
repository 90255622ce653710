//! From the trace of an execution to the lines of a report: the thread of each event, its operation and its place, and the
//! reason for each change of thread.

use std::collections::BTreeMap;

use checker::failure::Failure;
use checker::names::ThreadName;
use checker::operation::OpKind;
use checker::trace::{Reason, Trace, TraceStep};
use ptrace_backend::attention;

use crate::narrate::locations::Places;
use crate::narrate::sentences::phrasing::Phrasing;
use crate::narrate::thread_labels::ThreadLabels;
use crate::report::interned::Shared;
use crate::report::{EventLine, Location, Party, Role, Switch, Why};
use crate::say::sentence;

/// An execution, told.
pub(crate) struct EventLines {
    /// Its threads.
    pub(crate) labels: ThreadLabels,
    /// Its events.
    pub(crate) events: Vec<EventLine>,
    /// The threads that were preempted, each where that happened first.
    pub(crate) preempted: BTreeMap<ThreadName, Party>,
}

impl EventLines {
    /// Tells an execution, and the failure in it, if there is one; `at` has the place of every event.
    pub(crate) fn tell(
        trace: &Trace,
        at: &[Shared<Location>],
        failure: Option<&Failure>,
        places: &Places<'_>,
    ) -> Self {
        let harness = places.source().harness();
        let labels = ThreadLabels::of(trace.threads.iter().copied(), harness);
        let words = Phrasing { labels: &labels, source: places.source() };
        let located = || trace.steps.iter().zip(at).map(|(step, place)| Located { step, place });
        let mut writer = LineWriter { words, places, failure, preempted: BTreeMap::new() };
        let pending = pending_operations(located());
        let of_program = |line: &(u32, Located<'_>)| Some(line.1.step.event.id.thread) != harness;
        let lines = (0..).zip(located()).filter(of_program).inspect(|_| attention::look());
        let events =
            lines.map(|(number, step)| writer.line(number, step, pending.get(&number).copied())).collect();
        let preempted = writer.preempted;
        Self { labels, events, preempted }
    }
}

/// A step, and where it is.
#[derive(Clone, Copy)]
struct Located<'a> {
    step: &'a TraceStep,
    place: &'a Shared<Location>,
}

/// For each switch, by its position, the step that the thread which is left runs when it runs again.
fn pending_operations<'a>(
    steps: impl DoubleEndedIterator<Item = Located<'a>> + ExactSizeIterator,
) -> BTreeMap<u32, Located<'a>> {
    let mut next: BTreeMap<ThreadName, Located<'a>> = BTreeMap::new();
    let mut pending = BTreeMap::new();
    for (at, located) in steps.enumerate().rev() {
        if let Some(left) = left(&located.step.reason).and_then(|thread| next.get(&thread)) {
            pending.insert(at as u32, *left);
        }
        next.insert(located.step.event.id.thread, located);
    }
    pending
}

/// The thread that does not go on.
fn left(reason: &Reason) -> Option<ThreadName> {
    match reason {
        Reason::First | Reason::Continues | Reason::Aside => None,
        Reason::Preempted(thread)
        | Reason::Blocked(thread, _)
        | Reason::GaveWay(thread)
        | Reason::Finished(thread)
        | Reason::Failed(thread) => Some(*thread),
    }
}

struct LineWriter<'a> {
    words: Phrasing<'a>,
    places: &'a Places<'a>,
    failure: Option<&'a Failure>,
    preempted: BTreeMap<ThreadName, Party>,
}

impl LineWriter<'_> {
    fn line(&mut self, number: u32, located: Located<'_>, pending: Option<Located<'_>>) -> EventLine {
        let event = &located.step.event;
        EventLine {
            number,
            thread: self.words.labels.label(event.id.thread).into(),
            operation: event.op.kind,
            text: sentence(self.words.event(event)).into(),
            place: located.place.clone(),
            switch: self.switch(located.step, pending).map(Box::new),
        }
    }

    fn switch(&mut self, step: &TraceStep, pending: Option<Located<'_>>) -> Option<Switch> {
        if step.event.op.kind == OpKind::Timeout && step.reason == Reason::Aside {
            let from = self.words.labels.label(step.last.thread()?);
            let waiter = self.words.labels.label(step.event.id.thread);
            let reason = sentence(format!("the timed wait of {waiter} runs out"));
            return Some(Switch { from, why: Why::Timeout, reason });
        }
        let thread = left(&step.reason)?;
        let from = self.words.labels.label(thread);
        let stack = self.stack(thread, pending);
        let next = self.next(pending, &stack);
        let (why, reason) = match &step.reason {
            Reason::Blocked(_, on) => (Why::Blocked, self.words.waits(on)),
            Reason::GaveWay(_) => (Why::Yielded, "gives way".to_owned()),
            Reason::Finished(_) => (Why::Ended, "has ended".to_owned()),
            Reason::Failed(_) => (Why::Failed, "has failed; the others run on".to_owned()),
            _ => (Why::Preempted, format!("is preempted{next}")),
        };
        if why == Why::Preempted {
            let doing = sentence(format!("was preempted{next}"));
            let party = Party { thread: from.clone(), role: Role::Preempted, doing, stack };
            self.preempted.entry(thread).or_insert(party);
        }
        Some(Switch { reason: sentence(format!("{from} {reason}")), from, why })
    }

    /// The place of a thread that does not go on: that of its next event, or, if it never runs again, the place where it
    /// ends up.
    fn stack(&self, thread: ThreadName, pending: Option<Located<'_>>) -> Vec<Location> {
        match pending {
            Some(located) => vec![Location::clone(located.place)],
            None => {
                // In the failure of one thread, the others' parties are about what they did, not about where they are.
                let failure = self.failure.filter(|failure| failure.thread.is_none());
                let party = failure.and_then(|it| it.others.iter().find(|party| party.thread == thread));
                party.map(|party| self.places.of_stack(&party.stack)).unwrap_or_default()
            }
        }
    }

    fn next(&self, pending: Option<Located<'_>>, stack: &[Location]) -> String {
        match (pending, stack.first()) {
            (Some(located), _) => format!(", about to {}", self.words.pending(&located.step.event.op)),
            (None, Some(place)) => format!(" in {}", place.words()),
            (None, None) => String::new(),
        }
    }
}
