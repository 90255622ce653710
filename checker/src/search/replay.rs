//! One recorded schedule, run again.

use crate::event::agent::Choice;
use crate::event::failure::Failure;
use crate::event::step::OpKey;
use crate::execution::{Exceeded, Limits, RunOutcome, Runner, SearchError};
use crate::limit::Limit;
use crate::program::{ExecutionSummary, Program};
use crate::strategy::DefaultSchedule;
use crate::trace::Trace;

/// The result of a replay.
#[derive(Clone, Debug)]
pub struct Replayed {
    /// The events.
    pub trace: Trace,
    /// The failure, if there was one.
    pub failure: Option<Failure>,
    /// The limit that cut it short: what would have followed is not known.
    pub cut: Option<Exceeded>,
    /// The output of the program.
    pub summary: ExecutionSummary,
}

/// Runs a recorded schedule, and the default schedule from where it stops. `limit` ends it.
///
/// # Errors
/// [`SearchError::Diverged`] at the first event that is not as recorded; others when the program cannot be run.
pub fn replay<P: Program>(
    program: &P,
    steps: &[(Choice, OpKey)],
    step_limit: u32,
    limit: &Limit,
) -> Result<Replayed, SearchError> {
    let limits = Limits { timeouts: u32::MAX, ..Limits::of_events(step_limit) };
    loop {
        let mut runner = Runner::new(program, limits);
        let (failures, cut) = match runner.run(steps, &mut DefaultSchedule, &mut || limit.look())? {
            RunOutcome::Completed(failures) => (failures, None),
            RunOutcome::LimitExceeded(exceeded, failures) => (failures, Some(exceeded)),
            // The replay itself showed new key points. They may not have been in its way.
            RunOutcome::Promoted(_) => continue,
            RunOutcome::Pruned | RunOutcome::Stopped(_) => return Err(SearchError::Stopped),
        };
        let failure = failures.into_iter().next();
        return Ok(Replayed { trace: runner.trace, failure, cut, summary: runner.summary });
    }
}
