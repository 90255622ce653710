//! The terms that hints and hovers explain.

/// Explanation of the number on a failing line.
pub(crate) const DEPTH: &str = "*Bug depth*: where threads run by strict priority, one more than the number of times that a priority has to change for the failure. After ≤, fewer may do.";

/// Explanation of a preemption.
pub(crate) const PREEMPTION: &str = "*Preemption*: a switch away from a thread that could have gone on. Switches at a wait or at a thread's end are none.";
