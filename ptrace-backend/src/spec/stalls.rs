//! The bound on how long a thread may stand still beside a deadline that comes.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A pause that is no longer than this, in nanoseconds, is no stall: a switch of threads takes as long, and timers are
/// as late. So two threads that sleep for the same time go on in either order, whatever they did before.
pub(crate) const LEAST_STALL: u64 = 100_000;

/// The bound on stalls in executions that begin from now on, and the least one that would have made a difference.
#[derive(Debug)]
pub struct Stalls {
    /// In nanoseconds.
    at_most: AtomicU64,
    /// The shortest stall that would have let a deadline come earlier, in nanoseconds.
    needed: AtomicU64,
}

/// No thread is stalled.
impl Default for Stalls {
    fn default() -> Self {
        Self { at_most: AtomicU64::new(0), needed: AtomicU64::new(u64::MAX) }
    }
}

impl Stalls {
    /// In executions that begin from now on, a sleep or a timed wait can end before the next event of a thread that could have run
    /// meanwhile for at most this long. A recorded schedule comes out again where as much is allowed as when it was recorded.
    pub fn allow(&self, at_most: Duration) {
        self.at_most.store(u64::try_from(at_most.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
        self.needed.store(u64::MAX, Ordering::Relaxed);
    }

    /// The shortest stall that would have let a deadline come earlier, in the executions since [`Stalls::allow`]; `None` where
    /// none would have.
    #[must_use]
    pub fn needed(&self) -> Option<Duration> {
        Some(self.needed.load(Ordering::Relaxed))
            .filter(|&needed| needed < u64::MAX)
            .map(Duration::from_nanos)
    }

    /// A stall of so many nanoseconds would have let a deadline come.
    pub(crate) fn note_needed(&self, nanos: u64) {
        self.needed.fetch_min(nanos, Ordering::Relaxed);
    }

    /// In nanoseconds.
    pub(crate) fn at_most(&self) -> u64 {
        self.at_most.load(Ordering::Relaxed).max(LEAST_STALL)
    }
}
