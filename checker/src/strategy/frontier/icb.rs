//! Iterative context bounding: all schedules with c preemptions before any with c + 1.
//!
//! Madanlal Musuvathi, Shaz Qadeer: Iterative Context Bounding for Systematic Testing of Multithreaded Programs, PLDI 2007.
//! Deviations: where one number of preemptions has thousands of schedules, the next one takes turns with it (see
//! [`crate::strategy::frontier`]), and what was covered says how far the order held; the recursion of the paper's `Search` is a
//! work list, because states are reached again by running a prefix; its state table is the cache of [`crate::cache`], which is
//! keyed by happens-before, the thread that ran last and the preemptions spent, since the happens-before hash alone loses
//! schedules under a bound.

use super::{Bound, at_thread, waits};
use crate::cache::ScheduleContext;
use crate::event::agent::Choice;
use crate::state::scheduling_point::SchedulingPoint;
use crate::strategy::Coverage;
use crate::trace::{Previous, cost};

/// Counts preemptions.
#[derive(Clone, Copy, Debug)]
pub struct Preemptions {
    /// The highest number explored.
    pub max: u32,
}

impl Bound for Preemptions {
    fn price(&self, at: &SchedulingPoint<'_>, choice: Choice) -> u32 {
        cost::preemption(at.last, choice)
    }

    fn position(&self, at: &SchedulingPoint<'_>) -> ScheduleContext {
        match at.last {
            Previous::Runnable(name) => at_thread(at, name),
            Previous::Nobody | Previous::Free(_) | Previous::Yielding(_) => {
                waits(at).unwrap_or(ScheduleContext::Free)
            }
        }
    }

    fn max(&self) -> u32 {
        self.max
    }

    fn covered(&self, cost: u32) -> Coverage {
        Coverage { preemptions: Some(cost), ..Coverage::default() }
    }
}
