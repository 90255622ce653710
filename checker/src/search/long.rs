//! Executions that a limit cut short, or in which a thread had to give way.

use super::Search;
use crate::execution::Exceeded;
use crate::program::Program;
use crate::strategy::{Notes, WorkItem};

/// So many alternatives of an execution that was cut are kept.
const ALTERNATIVES: usize = 2_000;

impl<P: Program> Search<'_, P> {
    /// The execution that ran last, through an item, was cut short by a limit.
    pub(super) fn take_long(&mut self, item: &WorkItem, notes: &mut Notes, exceeded: Exceeded) {
        self.stats.pruned += 1;
        match exceeded {
            Exceeded::Events => self.stats.too_long += 1,
            Exceeded::Time => self.stats.too_slow += 1,
        }
        self.cut = Some(self.cut.map_or(item.cost, |cut| cut.min(item.cost)));
        self.cache.withdraw(&notes.entered, item.id);
        // It may go round in circles; leaving it anywhere in them is more of the same, and not covered anyway.
        notes.alternatives.truncate(ALTERNATIVES);
        notes.endless = true;
        self.uniform = Some(Vec::new());
    }

    /// What the execution that ran last, through an item, has left out is a gap in what is covered.
    pub(super) fn note_gap(&mut self, item: &WorkItem) {
        if self.runner.ending.left_out {
            self.cut = Some(self.cut.map_or(item.cost, |cut| cut.min(item.cost)));
        }
    }
}
