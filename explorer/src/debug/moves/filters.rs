//! Filters: the changes of thread at which a session stops.

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

    /// Whether it is stopped at once so many events have run.
    pub(in crate::debug) fn stop_at(self, recording: &Recording, events: usize) -> bool {
        let switch = recording.events.get(events).and_then(|event| event.switch.as_ref());
        switch.is_some_and(|switch| self.wants(switch.why))
    }
}
