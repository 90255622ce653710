//! Reasons for which a program may fail whatever the schedule.

use serde::{Deserialize, Serialize};

/// Reason for which a program may fail with an exit code whatever the schedule, as it says itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Hint {
    /// It has printed how it is to be called.
    Usage,
    /// A file that it needs is not there.
    MissingFile,
}
