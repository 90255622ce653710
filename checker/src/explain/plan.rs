//! A schedule as a plan that can be changed: the agents that run, and up to which of their events; and the guide that follows
//! one.
//!
//! A changed schedule does not fit its recording any more: threads run other operations, or are blocked where they were
//! not. So a plan names no operations. Its segments count events of their own thread from its beginning, which lets one be
//! left out or moved without a change to the others; a segment whose agent cannot go is over; and after the last one the
//! default schedule goes on.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::event::agent::{Agent, Choice, OpOutcome};
use crate::event::names::{EventId, ThreadName};
use crate::event::position::Position;
use crate::event::step::OpKey;
use crate::program::Until;
use crate::state::scheduling_point::SchedulingPoint;
use crate::strategy::{Decision, Guide, Notes};
use crate::trace::TraceStep;

/// An agent runs up to an event.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Segment {
    pub(super) agent: Agent,
    /// The number of events that its thread has run at the end of the segment.
    pub(super) until: u32,
}

/// Segments one after another.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Plan {
    pub(super) segments: Vec<Segment>,
    /// The ways in which events go that can go several.
    pub(super) outcomes: BTreeMap<EventId, OpOutcome>,
}

impl Plan {
    /// The plan of a schedule.
    pub(super) fn of<'t>(steps: impl IntoIterator<Item = &'t TraceStep>) -> Self {
        let mut plan = Self::default();
        for step in steps {
            let (choice, event) = (step.choice, &step.event);
            let until = event.id.index + 1;
            match plan.segments.last_mut() {
                Some(segment) if segment.agent == choice.agent => segment.until = until,
                _ => plan.segments.push(Segment { agent: choice.agent, until }),
            }
            if event.outcome != OpOutcome::Only {
                plan.outcomes.insert(event.id, event.outcome);
            }
        }
        plan
    }

    /// The same outcomes with other segments; neighbours of one agent become one segment.
    pub(super) fn with(&self, segments: impl IntoIterator<Item = Segment>) -> Self {
        let mut merged: Vec<Segment> = Vec::new();
        for segment in segments {
            match merged.last_mut() {
                Some(last) if last.agent == segment.agent => last.until = last.until.max(segment.until),
                _ => merged.push(segment),
            }
        }
        Self { segments: merged, outcomes: self.outcomes.clone() }
    }
}

/// The number of events that each thread has run so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts {
    of: FxHashMap<ThreadName, u32>,
    seen: Position,
}

impl Counts {
    pub(super) fn update(&mut self, at: &SchedulingPoint<'_>) {
        for step in &at.trace.steps[self.seen..] {
            self.of.insert(step.event.id.thread, step.event.id.index + 1);
        }
        self.seen = at.position();
    }

    pub(super) fn of(&self, thread: ThreadName) -> u32 {
        self.of.get(&thread).copied().unwrap_or_default()
    }
}

/// Follows a plan.
pub(super) struct PlanGuide<'a> {
    plan: &'a Plan,
    next: usize,
    counts: Counts,
}

impl<'a> PlanGuide<'a> {
    pub(super) fn new(plan: &'a Plan) -> Self {
        Self { plan, next: 0, counts: Counts::default() }
    }

    fn planned(&mut self, at: &SchedulingPoint<'_>) -> Option<Choice> {
        while let Some(segment) = self.plan.segments.get(self.next) {
            let thread = segment.agent.thread();
            let index = self.counts.of(thread);
            let outcome = self.plan.outcomes.get(&EventId { thread, index }).copied();
            match way(at, segment.agent, outcome).filter(|_| index < segment.until) {
                None => self.next += 1,
                choice => return choice,
            }
        }
        None
    }
}

/// The choice of an agent, in the way asked for if it can go that way.
pub(super) fn way(at: &SchedulingPoint<'_>, agent: Agent, outcome: Option<OpOutcome>) -> Option<Choice> {
    let mut ways = at.choices.iter().filter(|choice| choice.agent == agent);
    let asked = ways.clone().find(|choice| Some(choice.outcome) == outcome);
    asked.or_else(|| ways.next()).copied()
}

/// One event, as chosen; nothing where there is no choice.
pub(super) fn one(choice: Option<Choice>) -> Decision {
    choice.map_or(Decision::Prune, |choice| Decision::Run { choice, until: Until::one() })
}

impl Guide for PlanGuide<'_> {
    fn choose(&mut self, at: &SchedulingPoint<'_>) -> Decision {
        self.counts.update(at);
        one(self.planned(at).or_else(|| at.default_choice()))
    }

    fn pass(&mut self, _at: &SchedulingPoint<'_>) {}

    fn notes(self: Box<Self>) -> Notes {
        Notes::default()
    }
}

/// Whether an operation is one that was recorded when fewer key points were known. An instruction that touches memory in two
/// places has had another kind of access while only one of them was known to be shared.
fn is_recorded(planned: &OpKey, recorded: &OpKey) -> bool {
    let are_accesses = planned.kind.is_access() && recorded.kind.is_access();
    planned.site == recorded.site && (planned.kind == recorded.kind || are_accesses)
}

/// Follows a schedule that was recorded when fewer key points were known: each of its operations runs when its turn
/// comes, and what its thread runs before that, now that it is known, runs with it. So does what others run before it, where
/// its thread has to wait for that.
pub(super) struct Recall<'a> {
    steps: &'a [(Choice, OpKey)],
}

impl<'a> Recall<'a> {
    pub(super) fn new(steps: &'a [(Choice, OpKey)]) -> Self {
        Self { steps }
    }

    /// A thread that can go, and has something to run before its next operation in the recording.
    fn unrecorded(&self, at: &SchedulingPoint<'_>) -> Option<Choice> {
        let is_new = |choice: &&Choice| {
            let Some((_, planned)) = at.planned(**choice) else { return false };
            let next = self.steps.iter().find(|(recorded, _)| recorded.agent == choice.agent);
            next.is_none_or(|(_, key)| !is_recorded(&planned, key))
        };
        at.choices.iter().filter(|choice| matches!(choice.agent, Agent::Thread(_))).find(is_new).copied()
    }
}

impl Guide for Recall<'_> {
    fn choose(&mut self, at: &SchedulingPoint<'_>) -> Decision {
        while let [(choice, key), rest @ ..] = self.steps {
            let Some(found) = way(at, choice.agent, Some(choice.outcome)) else {
                if let Some(new) = self.unrecorded(at) {
                    return one(Some(new));
                }
                self.steps = rest;
                continue;
            };
            if at.planned(found).is_some_and(|(_, planned)| is_recorded(&planned, key)) {
                self.steps = rest;
            }
            return one(Some(found));
        }
        one(at.default_choice())
    }

    fn pass(&mut self, _at: &SchedulingPoint<'_>) {}

    fn notes(self: Box<Self>) -> Notes {
        Notes::default()
    }
}
