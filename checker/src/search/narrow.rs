//! Executions with few key points: where a guide needs accesses of few variables only ([`Guide::scope`]), the backend passes
//! over the others, and an execution costs less.
//!
//! Such an execution is what the same guide does with all key points, as far as it is seen. So one that fails is run again
//! with all of them before anything is said of it: what is reported, saved, replayed and explained has every key point. One
//! that does not fail says nothing about its class, which takes all events to know, nor about data races, since what orders
//! two accesses may have been left out. Each execution that is to be audited has all key points from the beginning.

use super::audit::EVERY;
use super::{Search, SearchNote};
use crate::event::failure::Failure;
use crate::execution::{End, SearchError};
use crate::program::{Program, Scope};
use crate::strategy::{Notes, WorkItem};

impl<P: Program> Search<'_, P> {
    /// Takes one execution through an item.
    pub(super) fn run_item(&mut self, item: &WorkItem) -> Result<(End, Notes), SearchError> {
        let scope = self.strategy.guide(item, &self.cache).scope();
        let is_audited = (self.stats.executions_now() + 1).is_multiple_of(EVERY);
        self.is_narrow = !is_audited && matches!(scope, Scope::Objects(_));
        self.is_checked = scope == Scope::Audit;
        if !self.is_narrow {
            let scope = if self.is_checked { Scope::Audit } else { Scope::All };
            return self.run_within(&scope, item);
        }
        let (end, notes) = self.run_within(&scope, item)?;
        match &end {
            End::Stopped(_) | End::Promoted(_) => Ok((end, notes)),
            End::Ended(_) | End::Cut if end.failures().is_empty() && self.spins_within(&scope) => {
                Ok((end, notes))
            }
            End::Ended(_) | End::Cut | End::Limit(..) => {
                self.stats.other += 1;
                self.is_narrow = false;
                let wide = self.run_within(&Scope::All, item)?;
                self.note_if_missed(end.failures(), &wide.0);
                Ok(wide)
            }
        }
    }

    fn run_within(&mut self, scope: &Scope, item: &WorkItem) -> Result<(End, Notes), SearchError> {
        let mut guide = self.strategy.guide(item, &self.cache);
        let limit = &self.options.limit;
        let end = self.runner.run_within(scope, &item.prefix, &mut *guide, &mut || limit.look())?;
        Ok((end, guide.notes()))
    }

    /// Whether whatever threads waited for in loops is within a scope: else it was not seen who let them go, and when.
    fn spins_within(&self, scope: &Scope) -> bool {
        let Scope::Objects(objects) = scope else { return true };
        self.runner.trace.spun_on.iter().all(|&location| objects.outside(location).is_empty())
    }

    /// Tells the user of a failure that was seen with few key points and not with all of them.
    fn note_if_missed(&mut self, failures: &[Failure], wide: &End) {
        if let (End::Ended(now), Some(failure)) = (wide, failures.first())
            && now.is_empty()
        {
            let note = SearchNote::FewVariablesOnly(failure.clone());
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
    }

    /// Counts the events of the execution that ran last.
    pub(super) fn count_events(&mut self) {
        let events = self.runner.trace.steps.len() as u64;
        *(if self.is_narrow { &mut self.stats.narrow_events } else { &mut self.stats.events }) += events;
    }
}
