//! Instructions before which the running thread stops for an observer.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use crate::control::state::thread_index::ThreadIndex;

/// Instructions before which the running thread stops.
#[derive(Debug, Default)]
pub(crate) struct Probes {
    pub(crate) wanted: BTreeSet<u64>,
    /// The byte that stood where a trap was planted. An instruction that is wanted and not in here has a trap of its own.
    pub(crate) planted: FxHashMap<u64, u8>,
    /// The thread that stands at one of them.
    pub(crate) stopped: Option<ThreadIndex>,
}

impl Probes {
    /// The thread that stands at a probe.
    pub(crate) fn stopped(&self) -> Option<ThreadIndex> {
        self.stopped
    }
}
