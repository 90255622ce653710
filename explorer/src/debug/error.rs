//! Errors: the reasons for which a debug session cannot do what it is asked for.

use checker::program::ExecutionError;

use crate::program::fresh_dir::FreshDirError;

/// A debug session could not begin, or not move. Every text is a sentence for the user.
#[derive(Debug, thiserror::Error)]
pub enum DebugError {
    /// It cannot begin, for the reason that a replay could not.
    #[error(transparent)]
    Replay(#[from] crate::Error),
    /// The program did not do again what was recorded, or cannot be run any more.
    #[error("the program cannot be run up to here again: {0}")]
    Execution(#[from] ExecutionError),
    /// A line to which the program came is not reached again.
    #[error("the program cannot be run up to here again: a line is not reached again")]
    NotReached,
    /// The working directory cannot be made as it was.
    #[error(transparent)]
    FreshDir(#[from] FreshDirError),
    /// Only what was recorded is there.
    #[error("{0}")]
    NotLive(String),
    /// The move takes too long, or was ended from outside.
    #[error("the move was broken off: {0}")]
    Interrupted(&'static str),
    /// There is no such thread, frame or step.
    #[error("{0}")]
    Unknown(String),
    /// The thread that runs the program is gone.
    #[error("the debug session is over: start it again")]
    Over,
}
