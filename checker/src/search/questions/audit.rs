//! Does what has been explored rest on all key points that there are?
//!
//! A backend gives up watching what has touched private memory often enough, or executions would take for ever. So the
//! default schedule before a search, every so manieth of its executions, the last one, and those of which the backend doubts
//! whether it has seen everything are run again with everything watched. If that shows new key points the search starts
//! again with them.

use crate::event::agent::Choice;
use crate::event::step::OpKey;
use crate::execution::{RunOutcome, SearchError};
use crate::program::{Program, Scope};
use crate::search::executor::Executor;
use crate::search::outcome::SearchEnd;
use crate::strategy::DefaultSchedule;

/// One execution in so many is audited.
pub(in crate::search) const EVERY: u64 = 100;

/// The time of the last audit.
#[derive(Debug, Default)]
pub(in crate::search) struct Auditor {
    /// The number of executions by then since the last restart.
    audited: u64,
}

impl Auditor {
    /// Audits what ran last, if it is time to.
    pub(in crate::search) fn now_and_then<P: Program>(
        &mut self,
        executor: &mut Executor<'_, P>,
    ) -> Result<Option<SearchEnd>, SearchError> {
        let ended = self.audit_doubtful(executor)?;
        if ended.is_some() {
            return Ok(ended);
        }
        let nth = executor.stats.executions_now();
        if executor.is_checked {
            self.audited = nth;
            return Ok(None);
        }
        if nth.is_multiple_of(EVERY) { self.audit_last(executor) } else { Ok(None) }
    }

    /// Audits what ran last, if that has not been done.
    pub(in crate::search) fn at_the_end<P: Program>(
        &mut self,
        executor: &mut Executor<'_, P>,
    ) -> Result<Option<SearchEnd>, SearchError> {
        let ended = self.audit_doubtful(executor)?;
        if ended.is_some() {
            return Ok(ended);
        }
        let is_done = executor.is_narrow || self.audited == executor.stats.executions_now();
        if is_done { Ok(None) } else { self.audit_last(executor) }
    }

    fn audit_last<P: Program>(
        &mut self,
        executor: &mut Executor<'_, P>,
    ) -> Result<Option<SearchEnd>, SearchError> {
        let schedule = executor.runner.trace.schedule();
        self.audit(executor, &schedule)
    }

    /// Audits those of which it was doubtful.
    fn audit_doubtful<P: Program>(
        &mut self,
        executor: &mut Executor<'_, P>,
    ) -> Result<Option<SearchEnd>, SearchError> {
        while let Some((epoch, schedule)) = executor.runner.to_audit.pop() {
            let is_current = epoch == executor.runner.program.epoch();
            let ended = if is_current { self.audit(executor, &schedule)? } else { None };
            if ended.is_some() {
                return Ok(ended);
            }
        }
        Ok(None)
    }

    fn audit<P: Program>(
        &mut self,
        executor: &mut Executor<'_, P>,
        schedule: &[(Choice, OpKey)],
    ) -> Result<Option<SearchEnd>, SearchError> {
        if executor.is_outdated() {
            // The search starts again anyway, and what ran last had fewer key points.
            return Ok(None);
        }
        self.audited = executor.stats.executions_now();
        match executor.run_aside(&Scope::Audit, schedule, &mut DefaultSchedule)? {
            RunOutcome::Stopped(go) => Ok(Some(SearchEnd::from(go))),
            RunOutcome::Completed(_)
            | RunOutcome::LimitExceeded(..)
            | RunOutcome::Pruned
            | RunOutcome::Promoted(_) => Ok(None),
        }
    }
}
