//! What a report says about why a failure happens, beyond the schedule that shows it. See `docs/formats.md`.

use checker::explain;
pub use checker::explain::Depth;
use serde::{Deserialize, Serialize};

/// Why a failure happens.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Explanation {
    /// How often another thread runs than before, up to the failure.
    pub switches: u32,
    /// Its bug depth, if that could be measured.
    pub depth: Option<Depth>,
    /// How many executions the explanation took; they are part of the report's `other`.
    pub executions: u64,
    /// The schedule that the search had found, where a simpler one took its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub original: Option<Original>,
}

/// The schedule that a search had found.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Original {
    /// Its preemptions.
    pub preemptions: u32,
    /// Its events.
    pub events: u64,
    /// Where it is saved.
    pub schedule_file: Option<String>,
}

impl From<&explain::Explanation> for Explanation {
    fn from(explained: &explain::Explanation) -> Self {
        let original = explained.original.as_ref().map(|trace| Original {
            preemptions: trace.preemptions(),
            events: trace.steps.len() as u64,
            schedule_file: None,
        });
        Self {
            switches: explained.switches,
            depth: explained.depth,
            executions: explained.executions,
            original,
        }
    }
}
