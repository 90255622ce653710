//! Executions that a limit cut short.

use super::executor::Executor;
use super::outcome::SearchEnd;
use crate::cache::Cache;
use crate::event::agent::Status;
use crate::event::wait::BlockedOn;
use crate::execution::Exceeded;
use crate::limit::StopRequest;
use crate::program::Program;
use crate::strategy::{Notes, WorkItem};

/// So many alternatives of an execution that was cut are kept.
const ALTERNATIVES: usize = 2_000;

/// Counts an execution through an item that a limit cut short, and takes back what it has entered.
pub(super) fn take_back<P: Program>(
    executor: &mut Executor<'_, P>,
    exceeded: Exceeded,
    (item, notes): (&WorkItem, &mut Notes),
    cache: &Cache,
) {
    count_awaiting(executor);
    let stats = &mut executor.stats;
    stats.pruned += 1;
    match exceeded {
        Exceeded::Events => stats.too_long += 1,
        Exceeded::Time => stats.too_slow += 1,
    }
    cache.withdraw(&notes.entered, item.id);
    // It may go round in circles; leaving it anywhere in them is more of the same, and not covered anyway.
    notes.alternatives.truncate(ALTERNATIVES);
    notes.limit_reached = true;
}

/// Counts an execution that did not begin as its planner had predicted from others.
pub(super) fn mispredicted<P: Program>(executor: &mut Executor<'_, P>) -> Notes {
    executor.stats.pruned += 1;
    executor.count_events();
    Notes { mispredicted: true, ..Notes::default() }
}

/// The end of a search in the middle of an execution.
pub(super) fn stopped<P: Program>(executor: &mut Executor<'_, P>, go: StopRequest) -> SearchEnd {
    count_awaiting(executor);
    SearchEnd::from(go)
}

/// Counts the execution that ran last if a thread waited in it for what comes from outside.
fn count_awaiting<P: Program>(executor: &mut Executor<'_, P>) {
    let left = &executor.runner.trace.pending_at_end;
    let awaits = left.iter().any(|left| matches!(left.view.status, Status::Blocked(BlockedOn::Outside(_))));
    executor.stats.awaits_outside += u64::from(awaits);
}
