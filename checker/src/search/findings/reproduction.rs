//! The reproduction of a failure: a test of whether it happens again.

use super::failing_execution::{FailingExecution, shows};
use super::identity::Identity;
use crate::execution::{RunOutcome, SearchError, ends_differ};
use crate::program::Program;
use crate::search::executor::Executor;
use crate::search::note::SearchNote;
use crate::search::outcome::SearchEnd;

/// The number of times that a failing schedule is run again before it is reported.
pub(in crate::search) const REPLAYS: u32 = 2;

pub(in crate::search) enum Reproduction {
    Yes,
    /// The limit was not reached again: no finding.
    No(SearchNote),
    Promoted,
    /// The search ends here; so many replays had shown it by then.
    Stopped(SearchEnd, u32),
}

/// Replays a failing schedule and compares event by event.
pub(in crate::search) fn reproduce<P: Program>(
    executor: &mut Executor<'_, P>,
    shown: &FailingExecution<'_>,
    identity: &Identity,
) -> Result<Reproduction, SearchError> {
    let FailingExecution { failure, trace, .. } = shown;
    let schedule = trace.schedule();
    for done in 0..REPLAYS {
        // Time running out must not lose what was found.
        let end = executor.run_to_its_end(&schedule)?;
        match &end {
            RunOutcome::Promoted(_) => return Ok(Reproduction::Promoted),
            RunOutcome::Stopped(go) => return Ok(Reproduction::Stopped(SearchEnd::from(*go), done)),
            end if shows(end, identity) => {
                if let Some(difference) = trace.first_difference(&executor.runner.trace)
                    && (shown.whole || difference.at < trace.steps.end())
                {
                    return Err(difference.into());
                }
            }
            _ if shown.limit => {
                return Ok(Reproduction::No(SearchNote::NotAgain(failure.clone())));
            }
            end => {
                let expected = RunOutcome::Completed(vec![failure.clone()]);
                return Err(ends_differ(trace.steps.end(), &expected, end).into());
            }
        }
    }
    Ok(Reproduction::Yes)
}
