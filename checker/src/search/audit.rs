//! Does what has been explored rest on all key points that there are?
//!
//! A backend gives up watching what has touched private memory often enough, or executions would take for ever. So the
//! default schedule before a search, every so manieth of its executions, the last one, and those of which the backend doubts
//! whether it has seen everything are run again with everything watched. If that shows new key points the search starts
//! again with them.

use super::{Ended, Search};
use crate::event::agent::Choice;
use crate::event::step::OpKey;
use crate::execution::{End, Runner, SearchError};
use crate::limit::Go;
use crate::program::{Ending, Epoch, Program, Scope};
use crate::strategy::DefaultSchedule;

/// One execution in so many is audited.
pub(super) const EVERY: u64 = 100;

impl<P: Program> Runner<'_, P> {
    /// Takes in how an execution with these scheduling points ended, which began with these key points.
    pub(crate) fn take_ending(&mut self, ending: Ending, scope: &Scope, epoch: Epoch) {
        self.ending = ending;
        // The order of few key points is no schedule with all of them: the next one that has all is audited.
        if !matches!(scope, Scope::Objects(_)) {
            self.note_doubt(*scope == Scope::Audit || self.program.epoch() != epoch);
        }
    }

    /// Keeps in mind what ran last, with the key points that there are, if it has to be audited; not if it was `settled`: if
    /// everything was watched, or it has shown key points and is no schedule any longer.
    pub(crate) fn note_doubt(&mut self, settled: bool) {
        if self.program.takes_doubt(&self.trace) && !settled {
            self.to_audit.push((self.program.epoch(), self.trace.schedule()));
        }
    }
}

impl<P: Program> Search<'_, P> {
    /// Audits what ran last, if it is time to.
    pub(super) fn audit_now_and_then(&mut self) -> Result<Option<Ended>, SearchError> {
        let ended = self.audit_doubtful()?;
        if ended.is_some() {
            return Ok(ended);
        }
        let nth = self.stats.executions_now();
        if self.is_checked {
            self.audited = nth;
            return Ok(None);
        }
        if nth.is_multiple_of(EVERY) { self.audit(self.runner.trace.schedule()) } else { Ok(None) }
    }

    /// Audits what ran last, if that has not been done.
    pub(super) fn audit_last(&mut self) -> Result<Option<Ended>, SearchError> {
        let ended = self.audit_doubtful()?;
        if ended.is_some() {
            return Ok(ended);
        }
        let is_done = self.is_narrow || self.audited == self.stats.executions_now();
        if is_done { Ok(None) } else { self.audit(self.runner.trace.schedule()) }
    }

    /// Audits those of which it was doubtful.
    fn audit_doubtful(&mut self) -> Result<Option<Ended>, SearchError> {
        while let Some((epoch, schedule)) = self.runner.to_audit.pop() {
            let is_current = epoch == self.runner.program.epoch();
            let ended = if is_current { self.audit(schedule)? } else { None };
            if ended.is_some() {
                return Ok(ended);
            }
        }
        Ok(None)
    }

    /// Looks for races in what ran last; `failed` says how it ended, if it went to its end.
    pub(super) fn take_races(&mut self, failed: Option<bool>) {
        if self.is_checked {
            self.triangles.take(&self.runner.trace, &self.runner.ending.drained);
        }
        // Events that order two accesses may have been left out.
        if !self.is_narrow && (self.options.races || self.options.only_synchronisation) {
            let new = self.races.take(&self.runner.trace, failed);
            self.widen(new);
        }
    }

    fn audit(&mut self, schedule: Vec<(Choice, OpKey)>) -> Result<Option<Ended>, SearchError> {
        if self.runner.program.epoch() != self.epoch {
            // The search starts again anyway, and what ran last had fewer key points.
            return Ok(None);
        }
        self.audited = self.stats.executions_now();
        self.stats.other += 1;
        let limit = &self.options.limit;
        let mut go = || -> Go { limit.look() };
        match self.runner.run_within(&Scope::Audit, &schedule, &mut DefaultSchedule, &mut go)? {
            End::Stopped(go) => Ok(Some(Ended::from(go))),
            End::Ended(_) | End::Limit(..) | End::Cut | End::Promoted(_) => Ok(None),
        }
    }
}
