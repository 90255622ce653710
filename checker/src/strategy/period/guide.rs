//! The guide that runs one execution through its periods.

use crate::event::agent::{Agent, Choice, Status};
use crate::event::names::ThreadName;
use crate::event::operation::OpKind;
use crate::event::position::Position;
use crate::program::Until;
use crate::state::scheduling_point::SchedulingPoint;
use crate::strategy::{Decision, Guide, Notes};
use crate::trace::Trace;

/// Whether an operation is one of a thread's key points here: creations and joins are none.
pub(super) fn is_key_point(kind: OpKind) -> bool {
    !matches!(kind, OpKind::Create | OpKind::Join)
}

/// Of each thread, the number of its key points that ran while another thread had not ended; threads without one are left out.
pub(super) fn slice(run: &Trace) -> Vec<(ThreadName, u32)> {
    let last = |thread: ThreadName| run.steps.rposition(|step| step.event.id.thread == thread);
    let first = |thread: ThreadName| {
        let born = |event: &crate::event::recorded::TraceEvent| {
            event.op.kind.creates() && event.op.peer == Some(thread)
        };
        run.steps.position(|step| born(&step.event))
    };
    let lives: Vec<_> = run.threads.iter().map(|&thread| (thread, first(thread), last(thread))).collect();
    let mut counts: Vec<(ThreadName, u32)> = Vec::new();
    for &(thread, ..) in &lives {
        let lives_too = |at: Position| {
            let others = lives.iter().filter(|(other, ..)| *other != thread);
            others.into_iter().any(|&(_, from, to)| from.is_none_or(|from| from < at) && to > Some(at))
        };
        let steps = run.steps.enumerate().filter(|(_, step)| step.event.id.thread == thread);
        let own = steps.filter(|(at, step)| is_key_point(step.event.op.kind) && lives_too(*at)).count();
        if own > 0 {
            counts.push((thread, own as u32));
        }
    }
    counts.sort_unstable();
    counts
}

/// Runs period after period.
pub(super) struct PeriodGuide {
    periods: Vec<(ThreadName, u32)>,
    nth: usize,
    /// Key points of this period that ran.
    done: u32,
    /// The thread that runs in the last period, until it blocks.
    last: Option<ThreadName>,
}

impl PeriodGuide {
    pub(super) fn new(periods: Vec<(ThreadName, u32)>) -> Self {
        let last = periods.last().map(|&(thread, _)| thread);
        Self { periods, nth: 0, done: 0, last }
    }

    /// The thread of the present period, or none in the last one.
    fn scheduled(&mut self, at: &SchedulingPoint<'_>) -> Option<Choice> {
        while self.nth + 1 < self.periods.len() {
            let (thread, count) = self.periods[self.nth];
            let is_last = self.periods[self.nth + 1..].iter().all(|&(other, _)| other != thread);
            let choice = nearest(at, thread).and_then(|thread| choice_of(at, thread));
            if let Some(choice) = choice.filter(|_| is_last || self.done < count) {
                self.done += 1;
                return Some(choice);
            }
            (self.nth, self.done) = (self.nth + 1, 0);
        }
        None
    }

    /// In the last period: its thread, then the others by creation, each until it blocks.
    fn free(&mut self, at: &SchedulingPoint<'_>) -> Option<Choice> {
        let same = self.last.and_then(|thread| choice_of(at, thread));
        let is_thread = |choice: &&Choice| matches!(choice.agent, Agent::Thread(_));
        let first = || at.choices.iter().filter(is_thread).min_by_key(|choice| choice.agent).copied();
        let choice = same.or_else(first).or_else(|| at.choices.first().copied())?;
        self.last = Some(choice.agent.thread());
        Some(choice)
    }
}

/// The thread, or the one that has yet to create it or its creator.
fn nearest(at: &SchedulingPoint<'_>, thread: ThreadName) -> Option<ThreadName> {
    let mut line = std::iter::successors(Some(thread), |thread| thread.parent());
    line.find(|&thread| at.agents.thread(thread).is_some())
}

fn choice_of(at: &SchedulingPoint<'_>, thread: ThreadName) -> Option<Choice> {
    at.choices.iter().find(|choice| choice.agent == Agent::Thread(thread)).copied()
}

/// A creation or a join, which goes at once; and so does the only thread that is left or there yet.
fn at_once(at: &SchedulingPoint<'_>) -> Option<Choice> {
    let is_free = |choice: &&Choice| {
        let pending = at.agents.agent(choice.agent).and_then(|view| view.pending.as_ref());
        pending.is_some_and(|op| !is_key_point(op.kind))
    };
    let mut live = at.agents.threads().iter().filter(|view| view.status != Status::Finished);
    let alone =
        live.next().filter(|_| live.next().is_none()).and_then(|view| choice_of(at, view.agent.thread()));
    alone.or_else(|| at.choices.iter().find(is_free).copied())
}

impl Guide for PeriodGuide {
    fn choose(&mut self, at: &SchedulingPoint<'_>) -> Decision {
        let choice = at_once(at).or_else(|| self.scheduled(at)).or_else(|| self.free(at));
        choice.map_or(Decision::Prune, |choice| Decision::Run { choice, until: Until::one() })
    }

    fn pass(&mut self, _at: &SchedulingPoint<'_>) {}

    fn notes(self: Box<Self>) -> Notes {
        Notes::default()
    }
}
