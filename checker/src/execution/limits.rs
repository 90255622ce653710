//! Limits on each execution.

use std::sync::Arc;

use crate::event::ranges::byte_set::ByteSet;

/// The limits on the length of an execution.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Limits {
    /// See [`crate::search::Options::step_limit`].
    pub(crate) events: u32,
    /// See [`crate::search::Options::max_timeouts`].
    pub(crate) timeouts: u32,
    /// See [`crate::search::Options::max_yields`].
    pub(crate) yields: u32,
}

/// If there are scheduling points at synchronisation only: the synchronisation variables.
pub(crate) type OnlyAt = Option<Arc<ByteSet>>;
