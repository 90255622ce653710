//! Time and cancellation of a verb, as the one limit that checker and backend look at.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use checker::limit::Limit;
use checker::search::StopRequest;
use ptrace_backend::{LaunchError, attention};

use crate::error::Error;

/// So much time there is at least to tell what an explanation has found, by executions that show the stacks at its events, and at
/// most of the time of a search to see which of its races are none.
const TELLING: Duration = Duration::from_secs(5);

/// The work that follows a search, in its time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PendingWork {
    /// Another search.
    Search,
    /// Further executions, which tell which of its races are none.
    Judging,
}

/// The end of the work that runs now. The stages of a verb begin one after the other, each with a time of its own.
#[derive(Clone)]
pub(crate) struct Deadline(Arc<DeadlineState>);

struct DeadlineState {
    cancel: Arc<AtomicBool>,
    created: Instant,
    /// In microseconds since `created`.
    begun: AtomicU64,
    half: AtomicU64,
    end: AtomicU64,
}

impl Deadline {
    /// Nothing but cancellation ends what runs.
    pub(crate) fn never(cancel: &Arc<AtomicBool>) -> Self {
        let never = || AtomicU64::new(u64::MAX);
        let cancel = Arc::clone(cancel);
        Self(Arc::new(DeadlineState {
            cancel,
            created: Instant::now(),
            begun: AtomicU64::new(0),
            half: never(),
            end: never(),
        }))
    }

    /// Gives the work that begins now so much time.
    pub(crate) fn begin(&self, time: Duration) {
        self.set(Duration::MAX, time);
    }

    /// The same, and what shares its time is told when half of that is over.
    pub(crate) fn begin_in_halves(&self, time: Duration) {
        self.set(time / 2, time);
    }

    fn set(&self, half: Duration, end: Duration) {
        let now = self.0.created.elapsed();
        self.0.begun.store(micros(now), Ordering::Relaxed);
        let after = |time: Duration| micros(now.saturating_add(time));
        self.0.half.store(after(half), Ordering::Relaxed);
        self.0.end.store(after(end), Ordering::Relaxed);
    }

    /// Tells what was found: that may take a while longer than what it was found in, whose time then goes on.
    pub(crate) fn while_telling<T>(&self, tell: impl FnOnce() -> T) -> T {
        let end = self.0.end.load(Ordering::Relaxed);
        let least = micros(self.0.created.elapsed().saturating_add(TELLING));
        self.0.end.store(end.max(least), Ordering::Relaxed);
        let told = tell();
        self.0.end.store(end, Ordering::Relaxed);
        told
    }

    /// For a search that leaves some of its time to what is to come: a quarter to another search, and as much, but not more than
    /// [`TELLING`], to judging what it has seen.
    pub(crate) fn limit_leaving(
        &self,
        is_to_come: impl Fn(PendingWork) -> bool + Send + Sync + 'static,
    ) -> Limit {
        let state = Arc::clone(&self.0);
        Limit::new(move || match state.look() {
            StopRequest::Continue | StopRequest::HalfSpent if state.is_share(&is_to_come) => {
                StopRequest::BudgetSpent
            }
            go => go,
        })
    }

    /// Reads what a program is made of.
    ///
    /// # Errors
    /// When that was stopped, or has taken all the time.
    pub(crate) fn in_time<T>(&self, read: impl FnOnce() -> T) -> Result<T, Error> {
        attention::within(&self.limit(), read).map_err(|ended| LaunchError::from(ended).into())
    }

    /// Whether the user wants to stop.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.0.cancel.load(Ordering::Relaxed)
    }

    /// The limit for work that has to end in time.
    pub(crate) fn limit(&self) -> Limit {
        let state = Arc::clone(&self.0);
        Limit::new(move || state.look())
    }
}

impl DeadlineState {
    /// Whether the time that is left is the share of what is to come.
    fn is_share(&self, is_to_come: &impl Fn(PendingWork) -> bool) -> bool {
        let (begun, end) = (self.begun.load(Ordering::Relaxed), self.end.load(Ordering::Relaxed));
        let quarter = end.saturating_sub(begun) / 4;
        let left = end.saturating_sub(micros(self.created.elapsed()));
        if end == u64::MAX || left > 2 * quarter {
            return false;
        }
        let search = if is_to_come(PendingWork::Search) { quarter } else { 0 };
        let judging = if is_to_come(PendingWork::Judging) { quarter.min(micros(TELLING)) } else { 0 };
        search + judging > 0 && left <= search + judging
    }

    fn look(&self) -> StopRequest {
        attention::look();
        let now = micros(self.created.elapsed());
        if self.cancel.load(Ordering::Relaxed) {
            StopRequest::Cancelled
        } else if now >= self.end.load(Ordering::Relaxed) {
            StopRequest::BudgetSpent
        } else if now >= self.half.load(Ordering::Relaxed) {
            StopRequest::HalfSpent
        } else {
            StopRequest::Continue
        }
    }
}

fn micros(time: Duration) -> u64 {
    time.as_micros().try_into().unwrap_or(u64::MAX)
}
