//! Progress of a search, as its caller is told of it.

use super::outcome::{Finding, Progress};

/// The caller of a search, which is told how far it is. The search is stopped by [`Options::limit`](super::Options::limit).
pub trait Observer {
    /// Called after every execution.
    fn progress(&mut self, progress: &Progress);

    /// Called as soon as a failure has been reproduced; again when a better schedule shows it.
    fn found(&mut self, _: &Finding) {}
}

/// The observer of a search whose progress is of no interest.
#[derive(Clone, Copy, Debug, Default)]
pub struct SilentObserver;

impl Observer for SilentObserver {
    fn progress(&mut self, _: &Progress) {}
}
