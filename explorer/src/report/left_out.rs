//! The part of a long execution that a report leaves out.

use serde::{Deserialize, Serialize};

/// A stretch of events that are not listed, but for the first one of each thread in it and those that create threads: from
/// these follows where each thread stands before and after it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LeftOut {
    /// The number of its first event.
    pub from: u32,
    /// The number of its last event.
    pub to: u32,
    /// Number of its events that are not listed.
    pub events: u32,
    /// Number of switches that are not told.
    pub switches: u32,
    /// Number of preemptions among these.
    pub preemptions: u32,
}

impl LeftOut {
    /// Numbers of switches and of preemptions that come before the event of this number without being told.
    #[must_use]
    pub fn before(&self, number: u32) -> (usize, usize) {
        if number > self.to { (self.switches as usize, self.preemptions as usize) } else { (0, 0) }
    }
}
