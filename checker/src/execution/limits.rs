//! Limits on each execution.

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
