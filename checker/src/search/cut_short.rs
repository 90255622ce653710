//! Executions that a limit cut short.

use super::outcome::Stats;
use crate::cache::Cache;
use crate::execution::Exceeded;
use crate::strategy::{Notes, WorkItem};

/// So many alternatives of an execution that was cut are kept.
const ALTERNATIVES: usize = 2_000;

/// Counts an execution through an item that a limit cut short, and takes back what it has entered.
pub(super) fn take_back(
    stats: &mut Stats,
    exceeded: Exceeded,
    (item, notes): (&WorkItem, &mut Notes),
    cache: &Cache,
) {
    stats.pruned += 1;
    match exceeded {
        Exceeded::Events => stats.too_long += 1,
        Exceeded::Time => stats.too_slow += 1,
    }
    cache.withdraw(&notes.entered, item.id);
    // It may go round in circles; leaving it anywhere in them is more of the same, and not covered anyway.
    notes.alternatives.truncate(ALTERNATIVES);
    notes.endless = true;
}
