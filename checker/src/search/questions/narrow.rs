//! Executions with few key points: where a guide needs accesses of few variables only ([`Guide::scope`]), the backend passes
//! over the others, and an execution costs less.
//!
//! Such an execution is what the same guide does with all key points, as far as it is seen. So one that fails is run again
//! with all of them before anything is said of it: what is reported, saved, replayed and explained has every key point. One
//! that does not fail says nothing about its class, which takes all events to know, nor about data races, since what orders
//! two accesses may have been left out. Each execution that is to be audited has all key points from the beginning.

use super::audit::EVERY;
use crate::cache::Cache;
use crate::event::failure::Failure;
use crate::execution::{RunOutcome, SearchError};
use crate::program::{Program, Scope};
use crate::search::executor::Executor;
use crate::search::note::SearchNote;
use crate::strategy::{Notes, Strategy, WorkItem};
use crate::trace::Trace;

/// Takes one execution through an item.
pub(in crate::search) fn run_item<P: Program>(
    executor: &mut Executor<'_, P>,
    item: &WorkItem,
    (strategy, cache): (&dyn Strategy, &Cache),
    notes: &mut Vec<SearchNote>,
) -> Result<(RunOutcome, Notes), SearchError> {
    let run_within = |executor: &mut Executor<'_, P>, scope: &Scope| {
        let mut guide = strategy.guide(item, cache);
        let end = executor.run(scope, &item.prefix, &mut *guide)?;
        Ok::<_, SearchError>((end, guide.notes()))
    };
    let scope = strategy.guide(item, cache).scope();
    let is_audited = (executor.stats.executions_now() + 1).is_multiple_of(EVERY);
    executor.is_narrow = !is_audited && matches!(scope, Scope::Objects(_));
    executor.is_checked = scope == Scope::Audit;
    if !executor.is_narrow {
        let scope = if executor.is_checked { Scope::Audit } else { Scope::All };
        return run_within(executor, &scope);
    }
    let (end, found) = run_within(executor, &scope)?;
    match &end {
        RunOutcome::Stopped(_) | RunOutcome::Promoted(_) => Ok((end, found)),
        RunOutcome::Completed(_) | RunOutcome::Pruned
            if end.failures().is_empty() && spins_within(&executor.runner.trace, &scope) =>
        {
            Ok((end, found))
        }
        RunOutcome::Completed(_) | RunOutcome::Pruned | RunOutcome::LimitExceeded(..) => {
            executor.stats.other += 1;
            executor.is_narrow = false;
            let wide = run_within(executor, &Scope::All)?;
            note_if_missed(end.failures(), &wide.0, notes);
            Ok(wide)
        }
    }
}

/// Whether whatever threads waited for in loops is within a scope: else it was not seen which thread let them go, and when.
fn spins_within(trace: &Trace, scope: &Scope) -> bool {
    let Scope::Objects(objects) = scope else { return true };
    trace.spun_on.iter().all(|&location| objects.outside(location).is_empty())
}

/// Tells the user of a failure that was seen with few key points and not with all of them.
fn note_if_missed(failures: &[Failure], wide: &RunOutcome, notes: &mut Vec<SearchNote>) {
    if let (RunOutcome::Completed(now), Some(failure)) = (wide, failures.first())
        && now.is_empty()
    {
        let note = SearchNote::FewVariablesOnly(failure.clone());
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
}
