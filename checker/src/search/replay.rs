//! One recorded schedule, run again.

use super::SearchError;
use crate::failure::Failure;
use crate::run::{End, Go, Limits, Runner};
use crate::seam::{Choice, Ending, OpKey, Program};
use crate::strategy::DefaultSchedule;
use crate::trace::Trace;

/// What a replay showed.
#[derive(Clone, Debug)]
pub struct Replayed {
    /// The events.
    pub trace: Trace,
    /// What went wrong, if anything did.
    pub failure: Option<Failure>,
    /// What the program wrote.
    pub ending: Ending,
}

/// Runs a recorded schedule, and the default schedule from where it stops. `go` is asked at every event after that.
///
/// # Errors
/// [`SearchError::Diverged`] at the first event that is not as recorded; others when the program cannot be run.
pub fn replay<P: Program>(
    program: &P,
    steps: &[(Choice, OpKey)],
    step_limit: u32,
    go: &mut dyn FnMut() -> Go,
) -> Result<Replayed, SearchError> {
    let limits = Limits { timeouts: u32::MAX, ..Limits::of_events(step_limit) };
    loop {
        let mut runner = Runner::new(program, limits);
        let failure = match runner.run(steps, &mut DefaultSchedule, go)? {
            End::Ended(failures) | End::Limit(failures) => failures.into_iter().next(),
            // The replay itself showed new key points. They may not have been in its way.
            End::Promoted(_) => continue,
            End::Cut(_) | End::Stopped(_) => return Err(SearchError::Stopped),
        };
        return Ok(Replayed { trace: runner.trace, failure, ending: runner.ending });
    }
}
