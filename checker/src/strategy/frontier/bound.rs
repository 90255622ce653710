//! The costs that a frontier counts and limits.

use crate::cache::ScheduleContext;
use crate::event::agent::Choice;
use crate::state::scheduling_point::SchedulingPoint;
use crate::strategy::Coverage;

/// The costs that a frontier counts and limits.
pub trait Bound: Copy + Send + Sync + 'static {
    /// The cost of a choice; 0 for [`SchedulingPoint::default_choice`].
    fn price(&self, at: &SchedulingPoint<'_>, choice: Choice) -> u32;

    /// The context on which the costs of the choices at a point depend, where no thread gives way.
    fn position(&self, at: &SchedulingPoint<'_>) -> ScheduleContext;

    /// The highest cost explored.
    fn max(&self) -> u32;

    /// The coverage that follows once all schedules up to this cost were explored.
    fn covered(&self, cost: u32) -> Coverage;
}

/// The lesser of two costs, as far as there are any.
pub(super) fn least(one: Option<u32>, other: Option<u32>) -> Option<u32> {
    one.into_iter().chain(other).min()
}
