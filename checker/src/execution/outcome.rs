//! The outcome of one execution.

use super::error::SearchError;
use crate::event::divergence::{Difference, Observation};
use crate::event::failure::{Failure, FailureKind};
use crate::event::position::Position;
use crate::limit::StopRequest;
use crate::program::{ExecutionError, StartError};

/// The limit on one execution that cut it short.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exceeded {
    /// The limit on its events.
    Events,
    /// The limit on the time of a thread from one key point to the next.
    Time,
}

/// The extent of an execution.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TerminationPoint {
    /// The point at which something had failed, or the process had ended.
    pub(crate) after: Option<Position>,
    /// Threads failed only when the process had ended. Had they moved earlier, the same could have happened in time; but
    /// as it was, the program passed.
    pub(crate) failed_late: bool,
}

/// The extent to which the prefix of an execution was replayed.
pub(crate) enum Replay {
    Through,
    /// Key points were added under it.
    Promoted,
    Stopped(StopRequest),
}

/// The end of an execution, for the search.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum RunOutcome {
    /// It ran to its end; with the failures that it showed, the first one first.
    Completed(Vec<Failure>),
    /// The guide ended it.
    Pruned,
    /// It was cut short by a limit on one execution; what follows is unknown. With what it had shown by then: that it is long is
    /// no failure, but it is one if it is seen that it cannot end.
    LimitExceeded(Exceeded, Vec<Failure>),
    /// Key points were added under it; with what it showed all the same.
    Promoted(Vec<Failure>),
    /// The owner wants to stop.
    Stopped(StopRequest),
}

impl RunOutcome {
    /// The failures that it showed.
    pub(crate) fn failures(&self) -> &[Failure] {
        match self {
            Self::Completed(failures) | Self::LimitExceeded(_, failures) => failures,
            Self::Pruned | Self::Promoted(_) | Self::Stopped(_) => &[],
        }
    }

    /// Of an execution that could not be started.
    pub(crate) fn unstarted(error: StartError) -> Result<Self, SearchError> {
        match error {
            StartError::Cancelled => Ok(Self::Stopped(StopRequest::Cancelled)),
            StartError::OutOfTime => Ok(Self::Stopped(StopRequest::BudgetSpent)),
            error @ StartError::Failed(_) => Err(error.into()),
        }
    }

    /// Of an execution that could not go on.
    pub(crate) fn broken_off(error: ExecutionError) -> Result<Self, ExecutionError> {
        match error {
            ExecutionError::Cancelled => Ok(Self::Stopped(StopRequest::Cancelled)),
            ExecutionError::OutOfTime => Ok(Self::Stopped(StopRequest::BudgetSpent)),
            error => Err(error),
        }
    }

    /// Of an execution that ran to its end with these failures. One in which a thread ran for too long was cut there.
    pub(crate) fn of(mut failures: Vec<Failure>) -> Self {
        let all = failures.len();
        failures.retain(|failure| failure.kind != FailureKind::Timeout);
        if failures.len() < all {
            Self::LimitExceeded(Exceeded::Time, failures)
        } else {
            Self::Completed(failures)
        }
    }
}

/// The difference between two executions that had the same events up to a position, and ended otherwise there.
pub(crate) fn ends_differ(at: Position, expected: &RunOutcome, got: &RunOutcome) -> Difference {
    let seen = |end: &RunOutcome| match end {
        RunOutcome::Completed(failures) | RunOutcome::LimitExceeded(_, failures) => failures
            .first()
            .map_or(Observation::End, |failure| Observation::Failure(Box::new(failure.clone()))),
        RunOutcome::Pruned | RunOutcome::Promoted(_) | RunOutcome::Stopped(_) => Observation::CutShort,
    };
    Difference { at, expected: seen(expected), got: seen(got) }
}
