//! Iterative context bounding: all schedules with c preemptions before any with c + 1.
//!
//! Madanlal Musuvathi, Shaz Qadeer: Iterative Context Bounding for Systematic Testing of Multithreaded Programs,
//! PLDI 2007. Deviations: where one number of preemptions has thousands of schedules, the next one takes turns with it
//! (see [`crate::strategy::frontier`]), and what was covered says how far the order held; the recursion of the paper's `Search` is a work list, because states are reached again by
//! running a prefix; its state table is the cache of [`crate::cache`], which is keyed by happens-before, the thread that
//! ran last and the preemptions spent, since the happens-before hash alone loses schedules under a bound.

use super::{Bound, at_thread, waits};
use crate::cache::Position;
use crate::event::agent::Choice;
use crate::state::scheduling_point::Point;
use crate::strategy::Coverage;
use crate::trace::{Last, cost};

/// Counts preemptions.
#[derive(Clone, Copy, Debug)]
pub struct Preemptions {
    /// The highest number explored.
    pub max: u32,
}

impl Bound for Preemptions {
    fn price(&self, at: &Point<'_>, choice: Choice) -> u32 {
        cost::preemption(at.last, choice)
    }

    fn position(&self, at: &Point<'_>) -> Position {
        match at.last {
            Last::CanGoOn(name) => at_thread(at, name),
            Last::Nobody | Last::Free(_) | Last::GivesWay(_) => waits(at).unwrap_or(Position::Free),
        }
    }

    fn max(&self) -> u32 {
        self.max
    }

    fn covered(&self, cost: u32) -> Coverage {
        Coverage { preemptions: Some(cost), ..Coverage::default() }
    }
}
