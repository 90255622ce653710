//! The order of events of another execution, which had fewer key points: what is a key point only now runs along.

use super::{Decision, Guide, Notes};
use crate::event::agent::{Agent, Choice};
use crate::event::step::OpKey;
use crate::program::Until;
use crate::state::scheduling_point::SchedulingPoint;

/// Follows an execution as far as that goes, and the default schedule from there on.
#[derive(Clone, Debug)]
pub struct TraceGuide {
    /// The events that have yet to run, the last one first.
    rest: Vec<(Choice, OpKey)>,
}

impl TraceGuide {
    /// Follows these events.
    #[must_use]
    pub fn new(mut steps: Vec<(Choice, OpKey)>) -> Self {
        steps.reverse();
        Self { rest: steps }
    }

    /// The choice that brings the next event nearer; none, if that cannot be said any more.
    fn next(&mut self, at: &SchedulingPoint<'_>) -> Option<Choice> {
        if self.rest.is_empty() {
            return None;
        }
        if let Some(choice) = self.before_its_own(at) {
            return Some(choice);
        }
        let (asked, key) = self.rest.last()?;
        let asked = *asked;
        let mut of_agent = at.choices.iter().copied().filter(|choice| choice.agent == asked.agent);
        let any = of_agent.clone().next()?;
        let is_it = at.planned(any).is_some_and(|(_, planned)| planned == *key);
        if is_it {
            self.rest.pop();
            return of_agent.find(|choice| choice.outcome == asked.outcome).or(Some(any));
        }
        matches!(asked.agent, Agent::Thread(_)).then_some(any)
    }
}

impl TraceGuide {
    /// A thread that stands where it did not stop before: it had run through there as soon as it could.
    fn before_its_own(&self, at: &SchedulingPoint<'_>) -> Option<Choice> {
        let own =
            |agent| self.rest.iter().rev().find(|(choice, _)| choice.agent == agent).map(|(_, key)| key);
        let is_new = |choice: &&Choice| {
            let planned = at.planned(**choice);
            matches!(choice.agent, Agent::Thread(_))
                && planned.is_some_and(|(_, key)| Some(&key) != own(choice.agent))
        };
        let last = at.last.thread();
        let mut new = at.choices.iter().filter(is_new);
        let first = new.clone().next();
        new.find(|choice| Some(choice.agent.thread()) == last).or(first).copied()
    }
}

impl Guide for TraceGuide {
    fn choose(&mut self, at: &SchedulingPoint<'_>) -> Decision {
        let next = self.next(at);
        if next.is_none() {
            self.rest.clear();
        }
        let choice = next.or_else(|| at.default_choice());
        choice.map_or(Decision::Prune, |choice| Decision::Run { choice, until: Until::one() })
    }

    fn pass(&mut self, _at: &SchedulingPoint<'_>) {}

    fn notes(self: Box<Self>) -> Notes {
        Notes::default()
    }
}
