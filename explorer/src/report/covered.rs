//! Coverage of a result: its bounds, and the entries of the account within them.

use checker::account::UnwatchedKind;
use serde::{Deserialize, Serialize};

use super::location::Location;
use super::plural::plural;
use crate::input::request::MemoryModel;

/// Result of a search that switched threads at synchronisation only.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct AtSynchronisation {
    /// Bounds of which every schedule was run that switches threads at synchronisation only.
    pub covered: Covered,
    /// Whether these stand for all schedules within these bounds: whether no execution had a data race. `None` where no
    /// bound was covered, and no race was seen so far.
    pub suffices: Option<bool>,
    /// The same as a sentence, with a pair that races if there is one.
    pub message: String,
}

/// The bounds within which every schedule has been run.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Covered {
    /// All schedules with at most so many preemptions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preemptions: Option<u32>,
    /// All schedules with at most so many delays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delays: Option<u32>,
    /// All schedules.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub everything: bool,
    /// Only those in which a thread that has yielded or slept so often in a row lets others go; all of them where nothing else
    /// is said here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_turns_of: Option<u32>,
    /// Only those in which no thread is stalled for longer, in nanoseconds of the virtual clock: no sleep and no timed wait ends
    /// before another thread's next event that could have run for so long. All of them where nothing is said here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_stall_ns: Option<u64>,
    /// The memory model that this is about, where the user asked for another one than that of the processor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_model: Option<MemoryModel>,
    /// Entries of the account that the user answers for: the bounds hold as far as that does not matter.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assumes: Vec<NotCovered>,
}

impl Covered {
    /// `up to 2 preemptions`; empty where no bound was covered.
    #[must_use]
    pub fn up_to(&self) -> String {
        let in_turns = self.in_turns_of.map_or("", |_| ", where threads take turns");
        match *self {
            Self { preemptions: Some(bound), .. } => {
                format!("up to {}{in_turns}", plural(bound.into(), "preemption"))
            }
            Self { delays: Some(bound), .. } => format!("up to {}{in_turns}", plural(bound.into(), "delay")),
            Self { everything: true, .. } => "in any schedule".to_owned(),
            Self { in_turns_of: Some(_), .. } => "where threads take turns".to_owned(),
            _ => String::new(),
        }
    }
}

/// An entry of the account of a search: unwatched code, or an unwatched effect.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct NotCovered {
    /// The kind of the entry.
    pub kind: UnwatchedKind,
    /// The file name of the module whose code it is, where it is code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub module: Option<String>,
    /// The function or system call, where it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    /// Number of executions with it.
    pub count: u64,
    /// For store buffering, some of the places.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stores: Vec<BufferedStore>,
}

/// A store that may stay in its processor's buffer for so long that an execution is not sequentially consistent.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct BufferedStore {
    /// The store.
    pub store: Location,
    /// A later load by the same thread, which the processor may carry out first.
    pub load: Location,
    /// The store of another thread that races with the load.
    pub other: Location,
}

impl NotCovered {
    /// Whether the user answers for it: by the name of its module, with or without the version (`libtbb.so`), or of its kind.
    pub(crate) fn is_assumed(&self, assumed: &[String]) -> bool {
        let is_version = |rest: &str| rest.is_empty() || rest.starts_with('.');
        let module = self.module.as_deref();
        let is_module =
            |name: &str| module.and_then(|module| module.strip_prefix(name)).is_some_and(is_version);
        assumed.iter().any(|name| name == self.kind.name() || is_module(name))
    }
}
