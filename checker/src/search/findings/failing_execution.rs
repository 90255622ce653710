//! A failure, as one execution shows it.

use super::identity::Identity;
use crate::event::failure::Failure;
use crate::execution::RunOutcome;
use crate::program::ExecutionSummary;
use crate::trace::Trace;

/// A failure, and the execution that showed it.
pub(in crate::search) struct FailingExecution<'t> {
    pub(in crate::search) failure: Failure,
    pub(in crate::search) trace: Trace,
    /// The trace goes to the end of the execution.
    pub(in crate::search) whole: bool,
    /// The execution was cut by a limit.
    pub(in crate::search) limit: bool,
    pub(in crate::search) summary: &'t ExecutionSummary,
    pub(in crate::search) number: u64,
}

/// Whether an execution that ended like this shows a failure.
pub(in crate::search) fn shows(end: &RunOutcome, identity: &Identity) -> bool {
    match end {
        RunOutcome::Completed(failures) | RunOutcome::LimitExceeded(_, failures) => {
            failures.iter().any(|failure| Identity::of(failure) == *identity)
        }
        RunOutcome::Pruned | RunOutcome::Promoted(_) | RunOutcome::Stopped(_) => false,
    }
}
