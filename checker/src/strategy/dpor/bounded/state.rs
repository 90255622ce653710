//! A state on the way of the present execution.

use super::Move;
use crate::seam::Choice;

/// A state, and what is explored from it.
#[derive(Debug, Default)]
pub(super) struct State {
    /// The preemptions up to here.
    pub(super) cost: u32,
    /// What need not come first from here on, until something comes that does not commute with it.
    pub(super) asleep: Vec<Move>,
    /// What is being explored.
    pub(super) taken: Option<Move>,
    /// What was or shall be explored, in this order.
    wanted: Vec<Choice>,
    /// How many of these have been begun.
    begun: usize,
    /// Everything from here on has been explored before.
    pub(super) is_known: bool,
    /// Something from here on costs more than the bound.
    pub(super) cut: bool,
    /// Something after what is being explored does.
    pub(super) cut_below: bool,
}

impl State {
    /// The state after what was taken from the one before, if there is one.
    pub(super) fn after(before: Option<&Self>, cost: u32) -> Self {
        Self {
            cost,
            asleep: before.map_or_else(Vec::new, Self::asleep_after),
            is_known: before.is_some_and(Self::is_known_after),
            ..Self::default()
        }
    }

    /// Takes in what ran here.
    pub(super) fn take(&mut self, taken: Move) {
        self.want(taken.step().0);
        if self.begun == 0 {
            self.begun = 1;
        }
        self.taken = Some(taken);
    }

    /// Adds a choice to what is to be explored.
    pub(super) fn want(&mut self, choice: Choice) {
        if !self.wanted.contains(&choice) {
            self.wanted.push(choice);
        }
    }

    /// Everything after what was taken is explored.
    pub(super) fn leave(&mut self) {
        let taken = self.taken.take();
        self.asleep.extend(taken.filter(|_| !self.cut_below));
        self.cut_below = false;
    }

    /// The next choice to explore.
    pub(super) fn next(&mut self) -> Option<Choice> {
        while let Some(&choice) = self.wanted.get(self.begun) {
            self.begun += 1;
            if !self.sleeps(choice) {
                return Some(choice);
            }
        }
        None
    }

    fn sleeps(&self, choice: Choice) -> bool {
        self.asleep.iter().any(|sleeper| sleeper.step().0 == choice)
    }

    /// What is still asleep after what was taken from here.
    fn asleep_after(&self) -> Vec<Move> {
        let stays = |sleeper: &&Move| self.taken.as_ref().is_none_or(|taken| sleeper.commutes(taken));
        self.asleep.iter().filter(stays).cloned().collect()
    }

    /// Whether everything after what was taken from here has been explored before.
    fn is_known_after(&self) -> bool {
        self.is_known || self.taken.as_ref().is_some_and(|taken| self.sleeps(taken.step().0))
    }
}
