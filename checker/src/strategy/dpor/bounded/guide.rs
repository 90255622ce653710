//! Takes one execution down a branch, and then to its end without another preemption.

use super::{Branch, Move};
use crate::cost;
use crate::point::Point;
use crate::seam::{Agent, Choice, Until};
use crate::strategy::{Decision, Guide, Notes};

/// A guide that stays with the thread that runs.
pub(super) struct Stayer {
    next: Option<Move>,
    asleep: Vec<Move>,
    /// The events whose effect on the sleepers has been seen.
    seen: usize,
    notes: Notes,
}

impl Stayer {
    pub(super) fn new(branch: Option<&Branch>) -> Self {
        let (next, asleep, seen) = branch.map_or_else(Default::default, |branch| {
            (branch.next.clone(), branch.asleep.clone(), branch.at as usize)
        });
        Self { next, asleep, seen, notes: Notes::default() }
    }

    /// Wakes whoever does not commute with what has run.
    fn catch_up(&mut self, at: &Point<'_>) {
        for step in &at.trace.steps[self.seen.min(at.position())..] {
            let ran = Move::of(step);
            self.asleep.retain(|sleeper| sleeper.commutes(&ran));
        }
        self.seen = at.position();
        self.notes.withheld |= at.withheld;
    }

    /// A thread that is awake and costs nothing, the one that runs first of all. If all of these are asleep, what follows
    /// is known; but its races with what came before are not.
    fn stay(&self, at: &Point<'_>) -> Option<Choice> {
        let sleeps = |choice: &Choice| self.asleep.iter().any(|sleeper| sleeper.step().0 == *choice);
        let free = at.choices.iter().filter(|&&choice| cost::preemption(at.last, choice) == 0);
        let awake = free.filter_map(|choice| match choice.agent {
            Agent::Thread(name) if !sleeps(choice) => Some((cost::turn(at.last, name), *choice)),
            _ => None,
        });
        awake.min_by_key(|&(turn, _)| turn).map(|(_, choice)| choice).or_else(|| at.default_choice())
    }
}

impl Guide for Stayer {
    fn choose(&mut self, at: &Point<'_>) -> Decision {
        self.catch_up(at);
        let choice = self.next.take().map(|next| next.step().0).or_else(|| self.stay(at));
        choice.map_or(Decision::Cut, |choice| Decision::Run { choice, until: Until::one() })
    }

    fn pass(&mut self, _at: &Point<'_>) {}

    fn notes(self: Box<Self>) -> Notes {
        self.notes
    }
}
