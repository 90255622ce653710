//! Which failures are the same, and whether one happens again.

use super::determinism::ends_differ;
use super::note::SearchNote;
use super::{Ended, Search, Shown};
use crate::event::failure::{Failure, FailureKind, Line};
use crate::event::names::Site;
use crate::execution::{End, SearchError};
use crate::limit::Go;
use crate::program::Program;
use crate::strategy::DefaultSchedule;

/// How many times a failing schedule is run again before it is reported.
pub(super) const REPLAYS: u32 = 2;

/// What makes two failures the same: the kind, and where in the code.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Identity {
    kind: FailureKind,
    sites: Vec<Site>,
    line: Option<Line>,
}

impl Identity {
    /// The identity of a failure: the stack of the thread that failed, and the line that made it fail before that; of a
    /// deadlock, where each thread stands, whichever thread it is.
    #[must_use]
    pub fn of(failure: &Failure) -> Self {
        let mut sites = failure.stack.clone();
        if failure.thread.is_none() {
            sites.extend(failure.others.iter().filter_map(|party| party.stack.first()));
            sites.sort_unstable();
            sites.dedup();
        }
        Self { kind: failure.kind, sites, line: failure.line.clone() }
    }

    /// What went wrong, also where the failure is told as one of every schedule.
    #[must_use]
    pub fn kind(&self) -> FailureKind {
        self.kind
    }
}

pub(super) enum Reproduction {
    Yes,
    /// The limit was not reached again: no finding.
    No(SearchNote),
    Promoted,
    /// The search ends here; so many replays had shown it by then.
    Stopped(Ended, u32),
}

impl<P: Program> Search<'_, P> {
    /// Replays a failing schedule and compares event by event.
    pub(super) fn reproduce(
        &mut self,
        shown: &Shown<'_>,
        identity: &Identity,
    ) -> Result<Reproduction, SearchError> {
        let Shown { failure, trace, .. } = shown;
        let schedule = trace.schedule();
        for done in 0..REPLAYS {
            self.stats.other += 1;
            let limit = &self.options.limit;
            // Time running out must not lose what was found.
            let mut go = || match limit.look() {
                Go::Cancelled => Go::Cancelled,
                Go::BudgetSpent | Go::HalfSpent | Go::Continue => Go::Continue,
            };
            let end = self.runner.run(&schedule, &mut DefaultSchedule, &mut go)?;
            match &end {
                End::Promoted(_) => return Ok(Reproduction::Promoted),
                End::Stopped(go) => return Ok(Reproduction::Stopped(Ended::from(*go), done)),
                end if shows(end, identity) => {
                    if let Some(difference) = trace.first_difference(&self.runner.trace)
                        && (shown.whole || difference.at < trace.steps.len())
                    {
                        return Err(difference.into());
                    }
                }
                _ if shown.limit => {
                    return Ok(Reproduction::No(SearchNote::NotAgain(failure.clone())));
                }
                end => {
                    let expected = End::Ended(vec![failure.clone()]);
                    return Err(ends_differ(trace.steps.len(), &expected, end).into());
                }
            }
        }
        Ok(Reproduction::Yes)
    }
}

pub(super) fn shows(end: &End, identity: &Identity) -> bool {
    match end {
        End::Ended(failures) | End::Limit(_, failures) => {
            failures.iter().any(|failure| Identity::of(failure) == *identity)
        }
        End::Cut | End::Promoted(_) | End::Stopped(_) => false,
    }
}
