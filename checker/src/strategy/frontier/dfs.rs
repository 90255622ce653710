//! Depth-first search: every schedule.
//!
//! Patrice Godefroid: Model Checking for Programming Languages using VeriSoft, POPL 1997, without its partial-order
//! reduction. With the cache each state is entered once, so that what is explored is the graph of states and not the
//! tree of schedules.

use super::Bound;
use crate::cache::ScheduleContext;
use crate::event::agent::Choice;
use crate::state::scheduling_point::SchedulingPoint;
use crate::strategy::Coverage;

/// Counts nothing.
#[derive(Clone, Copy, Debug)]
pub struct Unbounded;

impl Bound for Unbounded {
    fn price(&self, _at: &SchedulingPoint<'_>, _choice: Choice) -> u32 {
        0
    }

    fn position(&self, _at: &SchedulingPoint<'_>) -> ScheduleContext {
        ScheduleContext::Free
    }

    fn max(&self) -> u32 {
        u32::MAX
    }

    fn covered(&self, _cost: u32) -> Coverage {
        Coverage::default()
    }
}
