//! Takes one execution down a branch, and then anywhere that was not explored before.

use super::strict;
use crate::event::agent::{Agent, Choice};
use crate::event::position::Position;
use crate::program::Until;
use crate::state::scheduling_point::SchedulingPoint;
use crate::strategy::dpor::branch::{Branch, enabled};
use crate::strategy::dpor::moves::Move;
use crate::strategy::{Decision, Guide, Notes};
use crate::trace::cost;

/// A guide that follows a branch, and then lets sleep what sleeps.
pub(super) struct WakeupGuide {
    branch: Branch,
    /// The events whose effect on the sleepers has been seen.
    seen: Position,
    notes: Notes,
}

impl WakeupGuide {
    pub(super) fn new(branch: Branch) -> Self {
        Self { seen: branch.at, branch, notes: Notes::default() }
    }

    /// Wakes the sleepers that do not commute with what has run.
    fn catch_up(&mut self, at: &SchedulingPoint<'_>) {
        for step in &at.trace.steps[self.seen.min(at.position())..] {
            let mut ran = Move::of(step);
            ran.effect = strict::effect(&ran.effect);
            self.branch.sleep_set.retain(|sleeper| sleeper.commutes(&ran));
        }
        self.seen = at.position();
        self.notes.timeouts_bounded |= at.timeouts_bounded;
    }

    fn sleeps(&self, choice: Choice) -> bool {
        let is = |sleeper: &Move| sleeper.agent == choice.agent && sleeper.outcome == Some(choice.outcome);
        self.branch.sleep_set.iter().any(is)
    }

    /// The way in which a move can run here, if it can.
    fn way(&self, at: &SchedulingPoint<'_>, wanted: &Move) -> Option<Choice> {
        let mut ways = enabled(at).filter(|choice| {
            choice.agent == wanted.agent && wanted.outcome.is_none_or(|outcome| outcome == choice.outcome)
        });
        ways.find(|&choice| !self.sleeps(choice))
    }

    /// The default choice if it is awake, else the one whose turn comes first; time-outs last.
    fn awake(&self, at: &SchedulingPoint<'_>) -> Option<Choice> {
        let fair = at.choices.iter().copied().filter(|&choice| !self.sleeps(choice));
        let turn = |choice: &Choice| match choice.agent {
            Agent::Thread(name) => (0, cost::turn(at.last, name), choice.outcome),
            Agent::Flush(name) => (1, cost::turn(at.last, name), choice.outcome),
            Agent::Timeout(name) => (2, cost::turn(at.last, name), choice.outcome),
        };
        fair.min_by_key(turn).or_else(|| enabled(at).find(|&choice| !self.sleeps(choice)))
    }
}

impl Guide for WakeupGuide {
    fn choose(&mut self, at: &SchedulingPoint<'_>) -> Decision {
        self.catch_up(at);
        let mut choice = None;
        if self.branch.probe && self.branch.next.is_none() {
            return Decision::Prune;
        }
        if let Some(next) = self.branch.next.take() {
            choice = self.way(at, &next);
            if choice.is_none() && at.position() == self.branch.at {
                self.notes.infeasible = true;
                return Decision::Prune;
            }
        }
        let choice = choice.or_else(|| self.awake(at));
        choice.map_or(Decision::Prune, |choice| Decision::Run { choice, until: Until::one() })
    }

    fn pass(&mut self, _at: &SchedulingPoint<'_>) {}

    fn notes(self: Box<Self>) -> Notes {
        self.notes
    }
}
