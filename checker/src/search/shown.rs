//! A failure, as one execution shows it.

use super::identity::Identity;
use crate::event::failure::Failure;
use crate::execution::End;
use crate::program::Ending;
use crate::trace::Trace;

/// A failure, and the execution that showed it.
pub(super) struct Shown<'t> {
    pub(super) failure: Failure,
    pub(super) trace: Trace,
    /// The trace goes to the end of the execution.
    pub(super) whole: bool,
    /// The execution was cut by a limit.
    pub(super) limit: bool,
    pub(super) ending: &'t Ending,
    pub(super) number: u64,
}

/// Whether an execution that ended like this shows a failure.
pub(super) fn shows(end: &End, identity: &Identity) -> bool {
    match end {
        End::Ended(failures) | End::Limit(_, failures) => {
            failures.iter().any(|failure| Identity::of(failure) == *identity)
        }
        End::Cut | End::Promoted(_) | End::Stopped(_) => false,
    }
}
