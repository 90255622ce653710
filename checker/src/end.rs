//! How one execution ended, and what its owner says while it runs.

use crate::failure::{Failure, FailureKind};
use crate::run::Runner;
use crate::seam::{Program, Scope};

/// What the loop asks its owner at every event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Go {
    /// Go on.
    Continue,
    /// Go on, unless what runs is to leave as much time for others.
    HalfSpent,
    /// Time is up.
    BudgetSpent,
    /// The user wants to stop.
    Cancelled,
}

/// How an execution ended, for the search.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum End {
    /// It ran to its end; with the failures that it showed, the first one first.
    Ended(Vec<Failure>),
    /// The guide ended it; with what it had shown by then.
    Cut(Vec<Failure>),
    /// It was cut short by a limit on one execution: that is a failure should it reproduce, unless its schedule kept a thread
    /// waiting for long; what follows is unknown.
    Limit(Vec<Failure>),
    /// Key points were added under it; with what it showed all the same.
    Promoted(Vec<Failure>),
    /// The owner wants to stop.
    Stopped(Go),
}

impl End {
    /// What it showed.
    pub(crate) fn failures(&self) -> &[Failure] {
        match self {
            Self::Ended(failures) | Self::Cut(failures) | Self::Limit(failures) => failures,
            Self::Promoted(_) | Self::Stopped(_) => &[],
        }
    }

    /// Adds what the program knows of failures once an execution with these scheduling points has ended: the one that the
    /// runner ran last, or took over.
    pub(crate) fn attributed<P: Program>(mut self, scope: &Scope, runner: &mut Runner<'_, P>) -> Self {
        if let Self::Ended(failures) | Self::Cut(failures) | Self::Limit(failures) = &mut self
            // What is not seen of the others cannot be run again.
            && !matches!(scope, Scope::Objects(_))
        {
            for failure in failures {
                runner.looks += runner.program.attribute(failure, &runner.trace, &runner.ending);
            }
        }
        self
    }

    /// Of an execution that ran to its end with these failures. One in which a thread ran for too long was cut there.
    pub(crate) fn of(failures: Vec<Failure>) -> Self {
        if failures.iter().any(|failure| failure.kind == FailureKind::Timeout) {
            return Self::Limit(failures);
        }
        Self::Ended(failures)
    }
}
