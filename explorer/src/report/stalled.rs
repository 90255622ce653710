//! A search among schedules in which threads are stalled.

use serde::{Deserialize, Serialize};

use super::{Covered, Finding};

/// The result of a search among schedules in which threads are stalled.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Stalled {
    /// The longest stall that was looked for, in nanoseconds of the virtual clock.
    pub max_stall_ns: u64,
    /// Executions of that search.
    pub schedules: u64,
    /// Bounds of which every schedule was run with stalls of at most that.
    pub covered: Covered,
    /// The bound that was asked for is covered.
    pub complete: bool,
    /// No schedule within that bound fails with a shorter stall than the finding's.
    #[serde(default)]
    pub shortest: bool,
    /// Failures that need a longer stall than was asked for, with the shortest seen: warnings.
    pub findings: Vec<Finding>,
}
