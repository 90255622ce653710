//! A failure shown by an execution under which key points were added: it is a failure, and often the reason why code ran
//! that had never run before. Its schedule does not say enough any more, so the order of its events is run once more.

use super::{Ended, Search};
use crate::event::agent::Choice;
use crate::event::failure::Failure;
use crate::event::step::OpKey;
use crate::execution::{End, SearchError};
use crate::program::Program;
use crate::strategy::Follow;

/// What failed while key points were added under it.
pub(super) struct Carried {
    events: Vec<(Choice, OpKey)>,
    /// Of the item that it was.
    cost: u32,
}

impl<P: Program> Search<'_, P> {
    /// Remembers what ran last, if it failed, until the search has started again.
    pub(super) fn carry_over(&mut self, failures: &[Failure], cost: u32) {
        if !failures.is_empty() {
            self.note_seen(failures);
            self.carried_over = Some(Carried { events: self.runner.trace.schedule(), cost });
        }
    }

    /// Runs what was remembered with the key points that there are now.
    pub(super) fn run_carried_over(&mut self) -> Result<Option<Ended>, SearchError> {
        let Some(Carried { events, cost }) = self.carried_over.take() else { return Ok(None) };
        self.stats.other += 1;
        let limit = &self.options.limit;
        let end = self.runner.run(&[], &mut Follow::new(events), &mut || limit.look())?;
        match end {
            End::Stopped(go) => Ok(Some(Ended::from(go))),
            End::Promoted(failures) => {
                self.carry_over(&failures, cost);
                Ok(None)
            }
            End::Ended(failures) if !failures.is_empty() => {
                self.strategy.saw(&self.runner.trace);
                let whole = !self.runner.is_capped();
                let preemptions = self.runner.trace.preemptions();
                if self.strategy.bound().is_some() && preemptions > cost {
                    // A search that goes by bounds shall come to it in its turn.
                    return Ok(None);
                }
                self.take_failures(failures, whole, false)
            }
            End::Ended(_) | End::Cut | End::Limit(..) => Ok(None),
        }
    }
}
