//! The time for debug information once the limit on everything is over. A failure that was found is told in the user's words,
//! whatever has ended the search; but a file may hold more than can be read for that in the time that a user waits.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use checker::limit::{Limit, StopRequest};

use crate::attention;
use crate::os::process;

/// For so long, in processor time of the threads that read, debug information is read after the limit.
const GRACE: Duration = Duration::from_secs(1);

thread_local! {
    /// The processor time of this thread at which the read under way was first found to be late.
    static LATE_SINCE: Cell<Option<Duration>> = const { Cell::new(None) };
}

/// The rest of that time for one program.
pub(crate) struct Grace {
    /// Nothing is left once as many nanoseconds are spent as [`GRACE`] has.
    spent: Arc<AtomicU64>,
    limit: Limit,
}

impl Grace {
    /// All of it, beginning where this limit is over.
    pub(crate) fn after(limit: Limit) -> Self {
        let spent = Arc::new(AtomicU64::new(0));
        let seen = Arc::clone(&spent);
        let look = move || match limit.look() {
            StopRequest::BudgetSpent | StopRequest::Cancelled if is_spent(&seen, late()) => {
                StopRequest::BudgetSpent
            }
            _ => StopRequest::Continue,
        };
        Self { spent, limit: Limit::new(look) }
    }

    /// The result of `read`, or nothing where there is no time for it.
    pub(crate) fn read<T: Default>(&self, read: impl FnOnce() -> T) -> T {
        // One read may need another one, and has its time.
        if LATE_SINCE.get().is_some() {
            return read();
        }
        let done = attention::within(&self.limit, read);
        if let Some(since) = LATE_SINCE.take() {
            let took = process::own_processor_time().saturating_sub(since);
            self.spent.fetch_add(nanoseconds(took), Ordering::Relaxed);
        }
        done.unwrap_or_default()
    }

    /// Whether something was not read for want of time.
    pub(crate) fn is_over(&self) -> bool {
        is_spent(&self.spent, Duration::ZERO)
    }
}

/// For how long the read of this thread has been late.
fn late() -> Duration {
    let now = process::own_processor_time();
    let since = LATE_SINCE.get().unwrap_or(now);
    LATE_SINCE.set(Some(since));
    now.saturating_sub(since)
}

fn is_spent(spent: &AtomicU64, more: Duration) -> bool {
    spent.load(Ordering::Relaxed).saturating_add(nanoseconds(more)) >= nanoseconds(GRACE)
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;

    #[test]
    fn reads_after_the_limit_have_a_second_together() {
        let over = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&over);
        let look = move || match seen.load(Ordering::Relaxed) {
            true => StopRequest::Cancelled,
            false => StopRequest::Continue,
        };
        let grace = Grace::after(Limit::new(look));
        let long = || {
            let begun = process::own_processor_time();
            while process::own_processor_time() - begun < GRACE * 3 / 5 {
                attention::round();
            }
            true
        };
        assert!((0..3).all(|_| grace.read(long)), "there is time");
        over.store(true, Ordering::Relaxed);
        assert!(grace.read(|| grace.read(long)), "most of the second");
        assert!(!grace.is_over());
        assert!(!grace.read(long), "more than is left of it");
        assert!(grace.is_over());
        assert_eq!(grace.read(|| 1), 0);
    }
}
