//! The part of a thread in a failure.

use serde::{Deserialize, Serialize};

/// The part of a thread in a failure.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// It failed.
    Failed,
    /// It stands there when the execution fails, or waits for others.
    TakesPart,
    /// It freed the block that is used after that, or freed again.
    Freed,
    /// It allocated that block.
    Allocated,
    /// It was preempted on the way to the failure.
    Preempted,
}
