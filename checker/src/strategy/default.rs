//! The default schedule, and nothing else: what is run to see whether a program is deterministic.

use super::{Decision, Guide, Notes};
use crate::program::Until;
use crate::state::scheduling_point::SchedulingPoint;

/// Follows [`SchedulingPoint::default_choice`].
#[derive(Clone, Copy, Debug)]
pub struct DefaultSchedule;

impl Guide for DefaultSchedule {
    fn choose(&mut self, at: &SchedulingPoint<'_>) -> Decision {
        at.default_choice().map_or(Decision::Prune, |choice| Decision::Run { choice, until: Until::one() })
    }

    fn pass(&mut self, _at: &SchedulingPoint<'_>) {}

    fn notes(self: Box<Self>) -> Notes {
        Notes::default()
    }
}
