//! The limit on how long something may go on: the one notion of it, which every loop looks at that can take long.
//!
//! The checker knows no clock and no signals. The caller of a search hands in a function that tells whether time is up or the
//! user wants to stop, and search, explanation and backend all look at that.

use std::fmt;
use std::sync::Arc;

/// Says whether to go on; clones say the same. The default has no end.
#[derive(Clone, Default)]
pub struct Limit(Option<Arc<dyn Fn() -> StopRequest + Send + Sync>>);

impl Limit {
    /// Asks this, at every event and in every round of a long loop: it has to be cheap.
    pub fn new(look: impl Fn() -> StopRequest + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(look)))
    }

    /// Asks whether to go on.
    #[must_use]
    pub fn look(&self) -> StopRequest {
        self.0.as_ref().map_or(StopRequest::Continue, |look| look())
    }

    /// Whether it is time to end: what a loop works out after that is not needed.
    #[must_use]
    pub fn is_over(&self) -> bool {
        matches!(self.look(), StopRequest::BudgetSpent | StopRequest::Cancelled)
    }
}

impl fmt::Debug for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Limit" } else { "no limit" })
    }
}

/// A limit from outside makes no difference between two things to do.
impl PartialEq for Limit {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Limit {}

/// The answer to the question that a loop asks its owner at every event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StopRequest {
    /// Go on.
    Continue,
    /// Go on, unless what runs is to leave as much time for others.
    HalfSpent,
    /// Time is up.
    BudgetSpent,
    /// The user wants to stop.
    Cancelled,
}
