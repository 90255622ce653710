//! Filters: the changes of thread at which a session stops.

use checker::position::Position;

use crate::debug::recording::Recording;
use crate::report::Why;

/// The changes of thread that are stopped at.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Filters {
    /// A thread runs in place of one that could have gone on.
    pub preemption: bool,
    /// Any.
    pub switch: bool,
}

impl Filters {
    pub(in crate::debug) fn wants(self, why: Why) -> bool {
        match why {
            Why::Preempted => self.preemption || self.switch,
            Why::Blocked | Why::Yielded | Why::Ended | Why::Failed => self.switch,
            Why::Timeout => false,
        }
    }

    /// Whether it is stopped at a point.
    pub(in crate::debug) fn stop_at(self, recording: &Recording, point: Position) -> bool {
        let switch = recording.events.at(point).and_then(|event| event.switch.as_ref());
        switch.is_some_and(|switch| self.wants(switch.why))
    }
}
