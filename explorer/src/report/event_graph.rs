//! An execution as a graph of its events.

use serde::Serialize;

use super::event::{EventLine, Lane};

/// The `format` member of every graph.
pub const FORMAT: &str = "interleaver-graph";

/// The version of the graph's format.
pub const VERSION: u32 = 1;

/// The events of one execution and what happened before what: the object that `interleaver show --format json` prints. See
/// `docs/formats.md`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct EventGraph {
    /// Always [`FORMAT`].
    pub format: String,
    /// Always [`VERSION`].
    pub version: u32,
    /// The program: the path relative to the root, or the absolute one.
    pub target: String,
    /// The schedule file.
    pub schedule_file: String,
    /// The failure that the execution ends with.
    pub failure: Option<GraphFailure>,
    /// Its threads.
    pub lanes: Vec<Lane>,
    /// Its events, in the order in which they ran.
    pub events: Vec<EventLine>,
    /// The transitive reduction of happens-before, but for the order of each thread's own events: pairs of event numbers, the
    /// earlier event first, sorted by the later one.
    pub happens_before: Vec<[u32; 2]>,
}

/// Failure of an execution.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct GraphFailure {
    /// The failure, as a sentence.
    pub message: String,
    /// The event after which it shows: the last one of the thread that fails, or of all if no thread does.
    pub after: Option<u32>,
}
