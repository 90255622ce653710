//! A stalled thread: a time passes for another one, and this one stands still although it could run.

use serde::{Deserialize, Serialize};

/// The thread that stands still longest in a schedule.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct StallOf {
    /// The thread (`T1`, `T2` …) that could run, and does not.
    pub thread: String,
    /// The thread whose sleep or timed wait ends before that.
    pub other: String,
    /// The time of the stall, in nanoseconds of the virtual clock.
    pub nanoseconds: u64,
    /// Whether the other one sleeps; else its wait with a time limit runs out.
    pub sleeps: bool,
}
