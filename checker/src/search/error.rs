//! Why a search could not do its job.

use crate::seam::{ExecutionError, StartError};
use crate::trace::Difference;

/// A search or a replay could not go on.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SearchError {
    /// The same schedule gave another execution.
    #[error(
        "the program does not do the same when it runs twice under the same schedule: event {at} was {expected}, then {got}"
    )]
    NotDeterministic {
        /// Which event, from 0.
        at: usize,
        /// What happened the first time.
        expected: String,
        /// What happened then.
        got: String,
    },
    /// A recorded schedule does not fit the program.
    #[error("the schedule does not fit the program: event {at} should be {expected}, but is {got}")]
    Diverged {
        /// Which event, from 0.
        at: usize,
        /// What was recorded.
        expected: String,
        /// What happened.
        got: String,
    },
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
            ExecutionError::Diverged { at, expected, got } => Self::Diverged { at, expected, got },
            error => Self::Execution(error),
        }
    }
}

impl From<Difference> for SearchError {
    fn from(Difference { at, expected, got }: Difference) -> Self {
        Self::Diverged { at, expected, got }
    }
}

impl SearchError {
    /// Within a search, a schedule that does not fit was recorded moments ago: the program is to blame.
    pub(crate) fn while_searching(self) -> Self {
        match self {
            Self::Diverged { at, expected, got } => Self::NotDeterministic { at, expected, got },
            other => other,
        }
    }
}
