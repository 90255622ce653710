//! The children of an execution, and what it has shown. They can be told before its turn, but for what others show until then.

use std::sync::{PoisonError, RwLock};

use super::bound::unsupported::UnsupportedOperations;
use super::canonical::CanonicalSchedule;
use super::frame::{Child, Origin, ReversalTask};
use super::outcome_table::{KnownOutcomes, OutcomeTable, Question};
use super::{bound, children};
use crate::event::position::{PerEvent, Position};
use crate::limit::Limit;
use crate::strategy::dpor::planned::ReplayPrefix;
use crate::strategy::dpor::races::Races;
use crate::trace::{Trace, TraceStep};

/// The children of an execution, and what it has shown.
#[derive(Clone, PartialEq, Debug)]
pub struct Expansion {
    /// Its events; none if it has no children.
    pub(super) steps: ReplayPrefix,
    /// Of each of them, whether it was put where it is by a reversal.
    pub(super) scheduled: PerEvent<bool>,
    pub(super) children: Vec<Child>,
    /// These are all.
    pub(super) whole: bool,
    /// In a bounded search: where what costs more than the bound may lead to what does not.
    pub(super) unsupported: UnsupportedOperations,
    shown: OutcomeTable,
    /// The children depend on these answers.
    asked: Vec<(Question, Option<bool>)>,
}

impl Expansion {
    /// The offspring of the first `to` events of an execution, which was perhaps given up after them.
    /// `max`: where preemptions are bounded, the number of them that is of interest. Once the limit is over, no more children
    /// are looked for, and those found are not the whole.
    pub(super) fn of(
        task: ReversalTask,
        run: &Trace,
        to: Position,
        given_up: bool,
        known: &RwLock<OutcomeTable>,
        (max, limit): (Option<u32>, &Limit),
    ) -> Self {
        let mut origin = Origin { scheduled: task.scheduled, overtaken: Vec::new() };
        let mut children = Vec::new();
        if let Some(child) = task.child {
            children.extend(child.other_ways(run, origin.scheduled.end()));
            origin.scheduled.push(true);
            origin.overtaken = child.overtaken;
        }
        origin.scheduled.resize(run.steps.end(), false);
        let races = Races::new(run);
        let shown = OutcomeTable::of(&races);
        let outcomes = KnownOutcomes::new(known, &shown);
        let canonical = CanonicalSchedule::new(&races, &outcomes, to, given_up, max.is_some());
        let (more, whole) = children::all(&races, &canonical, (&origin, limit), to);
        children.extend(more);
        let unsupported = max.map_or(UnsupportedOperations::default(), |_| UnsupportedOperations::of(run));
        if let Some(max) = max.filter(|_| !unsupported.any()) {
            bound::set_costs(&canonical, (&origin, limit), &mut children, max);
        }
        let asked = outcomes.asked();
        let kept = if children.is_empty() { Position::START } else { to.min(run.steps.end()) };
        let steps = run.steps[..kept].iter().map(TraceStep::replayed).collect();
        Self { steps, scheduled: origin.scheduled, children, whole, unsupported, shown, asked }
    }

    /// Whether it would be the same, were it made now.
    pub(super) fn holds(&self, known: &RwLock<OutcomeTable>) -> bool {
        let outcomes = KnownOutcomes::new(known, &self.shown);
        self.asked.iter().all(|&(question, answer)| outcomes.answer(question) == answer)
    }

    /// Whether it is made without knowing a semaphore's first value, so that a trace may be repeated. Anything that executions
    /// show of it should be known before the next ones are chosen.
    pub(super) fn guesses(&self) -> bool {
        let is_guess = |asked: &(Question, Option<bool>)| matches!(asked, (Question::Semaphore(..), None));
        self.asked.iter().any(is_guess)
    }

    /// Lets others know what the execution has shown.
    pub(super) fn teach(&self, known: &RwLock<OutcomeTable>) {
        known.write().unwrap_or_else(PoisonError::into_inner).take_in(&self.shown);
    }

    /// The number of events that it keeps.
    pub(crate) fn events(&self) -> usize {
        self.steps.len() + self.children.iter().map(|child| child.keep.threads() + 1).sum::<usize>()
    }
}
