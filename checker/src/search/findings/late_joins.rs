//! A failing schedule as a person would tell it.

use super::failing_execution::{FailingExecution, shows};
use super::identity::Identity;
use crate::event::agent::Choice;
use crate::event::operation::OpKind;
use crate::event::step::OpKey;
use crate::execution::{RunOutcome, SearchError};
use crate::program::Program;
use crate::search::executor::Executor;
use crate::trace::TraceStep;

/// The same failure with joins as late as they can be: searches run them early ([`crate::strategy::Frontier`]), where
/// each one is a switch that explains nothing.
pub(in crate::search) fn with_late_joins<'e, P: Program>(
    executor: &mut Executor<'_, P>,
    shown: FailingExecution<'e>,
    identity: &Identity,
) -> Result<FailingExecution<'e>, SearchError> {
    let Some(schedule) = joins_late(&shown.trace.steps).filter(|_| !shown.limit) else {
        return Ok(shown);
    };
    let end = match executor.run_to_its_end(&schedule) {
        // Not the same after all, or the caller is told when the schedule itself is run again.
        Err(SearchError::Diverged(_)) => return Ok(shown),
        end => end?,
    };
    let tidy = &mut executor.runner.trace;
    if !matches!(end, RunOutcome::Completed(_))
        || !shows(&end, identity)
        || tidy.preemptions() > shown.trace.preemptions()
    {
        return Ok(shown);
    }
    let whole = !executor.runner.is_capped();
    Ok(FailingExecution { trace: std::mem::take(&mut executor.runner.trace), whole, ..shown })
}

/// The schedule with each join moved to where its thread goes on; nothing, if they are there already.
fn joins_late(steps: &[TraceStep]) -> Option<Vec<(Choice, OpKey)>> {
    let mut late: Vec<&TraceStep> = steps.iter().collect();
    for at in (0..late.len()).rev() {
        if late[at].event.op.kind == OpKind::Join {
            let thread = late[at].event.id.thread;
            let next = late[at + 1..].iter().position(|step| step.event.id.thread == thread);
            let to = next.map_or(late.len(), |next| at + 1 + next);
            late[at..to].rotate_left(1);
        }
    }
    let ids = |step: &&TraceStep| step.event.id;
    let moved = late.iter().map(ids).ne(steps.iter().map(|step| step.event.id));
    moved.then(|| late.into_iter().map(TraceStep::replayed).collect())
}
