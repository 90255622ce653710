//! Limits on each execution.

use crate::cache::Runner;
use crate::search::Options;

/// How far an execution goes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Limits {
    /// See [`Options::step_limit`].
    pub(crate) events: u32,
    /// See [`Options::max_timeouts`].
    pub(crate) timeouts: u32,
    /// See [`Options::max_yields`].
    pub(crate) yields: u32,
}

impl Limits {
    pub(crate) fn of(options: &Options) -> Self {
        Self {
            events: options.step_limit.max(1),
            timeouts: options.max_timeouts,
            yields: options.max_yields.clamp(1, Runner::MOST_YIELDS),
        }
    }

    /// As usual, but with so many events.
    pub(crate) fn of_events(events: u32) -> Self {
        Self::of(&Options { step_limit: events, ..Options::default() })
    }
}
