//! Iterative delay bounding: all schedules with d delays of a round-robin scheduler before any with d + 1.
//!
//! Michael Emmi, Shaz Qadeer, Zvonimir Rakamarić: Delay-Bounded Scheduling, POPL 2011. Deviations: explored by work
//! list and cache like icb; the round goes by creation path (see [`crate::trace::cost::delay`]); time-outs and the choice of a
//! waiter cost no delay.

use super::{Bound, at_thread, time_goes_on};
use crate::cache::ScheduleContext;
use crate::event::agent::{Agent, Choice};
use crate::state::scheduling_point::SchedulingPoint;
use crate::strategy::Coverage;
use crate::trace::cost;

/// Counts delays.
#[derive(Clone, Copy, Debug)]
pub struct Delays {
    /// The highest number explored.
    pub max: u32,
}

impl Bound for Delays {
    fn price(&self, at: &SchedulingPoint<'_>, choice: Choice) -> u32 {
        cost::delay(at.last, at.choices, choice)
    }

    fn position(&self, at: &SchedulingPoint<'_>) -> ScheduleContext {
        time_goes_on(at).unwrap_or_else(|| match at.default_choice().map(|choice| choice.agent) {
            Some(Agent::Thread(next)) => at_thread(at, next),
            _ => ScheduleContext::Free,
        })
    }

    fn max(&self) -> u32 {
        self.max
    }

    fn covered(&self, cost: u32) -> Coverage {
        Coverage { delays: Some(cost), ..Coverage::default() }
    }
}
