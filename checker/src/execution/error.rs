//! The reasons for which a search could not do its job.

use crate::event::divergence::Difference;
use crate::program::{ExecutionError, StartError};

/// A search or a replay could not go on.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SearchError {
    /// The same schedule gave another execution.
    #[error(
        "the program does not do the same when it runs twice under the same schedule: event {} was {}, then {}",
        .0.at, .0.expected, .0.got
    )]
    NotDeterministic(Box<Difference>),
    /// A recorded schedule does not fit the program.
    #[error("the schedule does not fit the program: event {} should be {}, but is {}", .0.at, .0.expected, .0.got)]
    Diverged(Box<Difference>),
    /// The program could not be started.
    #[error(transparent)]
    Start(#[from] StartError),
    /// An execution could not go on.
    #[error(transparent)]
    Execution(ExecutionError),
    /// A replay was stopped by its owner.
    #[error("stopped")]
    Stopped,
}

impl From<ExecutionError> for SearchError {
    fn from(error: ExecutionError) -> Self {
        match error {
            ExecutionError::Diverged(difference) => Self::Diverged(difference),
            error => Self::Execution(error),
        }
    }
}

impl From<Difference> for SearchError {
    fn from(difference: Difference) -> Self {
        Self::Diverged(Box::new(difference))
    }
}

impl SearchError {
    /// Within a search, a schedule that does not fit was recorded moments ago: the program is to blame.
    pub(crate) fn while_searching(self) -> Self {
        match self {
            Self::Diverged(difference) => Self::NotDeterministic(difference),
            other => other,
        }
    }
}
