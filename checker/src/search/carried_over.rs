//! A failure shown by an execution under which key points were added: it is a failure, and often the reason why code ran
//! that had never run before. Its schedule does not say enough any more, so the order of its events is run once more.

use super::executor::Executor;
use super::irreproducible::Irreproducible;
use super::outcome::SearchEnd;
use crate::event::agent::Choice;
use crate::event::failure::Failure;
use crate::event::step::OpKey;
use crate::execution::{RunOutcome, SearchError};
use crate::program::{Program, Scope};
use crate::strategy::{Strategy, TraceGuide};

/// A failing execution under which key points were added.
pub(super) struct CarriedOver {
    events: Vec<(Choice, OpKey)>,
    /// Of the item that it was.
    cost: u32,
    irreproducible: Irreproducible,
}

/// The result of running it once more.
pub(super) enum Rerun {
    /// The search is to end.
    Ended(SearchEnd),
    /// Key points were added under it again.
    CarriedOver(CarriedOver),
    /// It failed again.
    Failed(Vec<Failure>),
    /// Nothing that has to be looked at now.
    Nothing,
}

impl CarriedOver {
    /// The execution that ran last, if it failed, until the search has started again.
    pub(super) fn of<P: Program>(
        executor: &mut Executor<'_, P>,
        failures: &[Failure],
        cost: u32,
    ) -> Option<Self> {
        if failures.is_empty() {
            return None;
        }
        executor.note_seen(failures);
        let trace = &executor.runner.trace;
        let irreproducible = Irreproducible::new(failures, trace);
        Some(Self { events: trace.schedule(), cost, irreproducible })
    }

    /// Runs it with the key points that there are now.
    pub(super) fn run<P: Program>(
        self,
        executor: &mut Executor<'_, P>,
        strategy: &mut dyn Strategy,
    ) -> Result<Rerun, SearchError> {
        let Self { events, cost, irreproducible } = self;
        let end = executor.run_aside(&Scope::All, &[], &mut TraceGuide::new(events))?;
        Ok(match end {
            RunOutcome::Stopped(go) => Rerun::Ended(SearchEnd::from(go)),
            RunOutcome::Promoted(failures) => {
                Self::of(executor, &failures, cost).map_or(Rerun::Nothing, Rerun::CarriedOver)
            }
            RunOutcome::Completed(failures) if !failures.is_empty() => {
                strategy.observe(&executor.runner.trace);
                if strategy.bound().is_some() && executor.runner.trace.preemptions() > cost {
                    // A search that goes by bounds shall come to it in its turn.
                    return Ok(Rerun::Nothing);
                }
                Rerun::Failed(failures)
            }
            RunOutcome::Completed(_) | RunOutcome::Pruned | RunOutcome::LimitExceeded(..) => {
                executor.irreproducible.push(irreproducible);
                Rerun::Nothing
            }
        })
    }
}
