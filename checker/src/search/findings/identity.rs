//! The identity of failures: what makes two of them the same.

use crate::event::failure::{Failure, FailureKind, Line};
use crate::event::names::Site;

/// The identity of a failure, which makes two of them the same: the kind, and the place in the code.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Identity {
    kind: FailureKind,
    sites: Vec<Site>,
    line: Option<Line>,
}

impl Identity {
    /// The identity of a failure: the stack of the thread that failed, and the line that made it fail before that; of a
    /// deadlock, where each thread stands, whichever thread it is.
    #[must_use]
    pub fn of(failure: &Failure) -> Self {
        let mut sites = failure.stack.clone();
        if failure.thread.is_none() {
            sites.extend(failure.others.iter().filter_map(|party| party.stack.first()));
            sites.sort_unstable();
            sites.dedup();
        }
        Self { kind: failure.kind, sites, line: failure.line.clone() }
    }

    /// The kind of failure, also where the failure is told as one of every schedule.
    #[must_use]
    pub fn kind(&self) -> FailureKind {
        self.kind
    }
}
