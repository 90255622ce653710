//! Executions that a limit cut short, or in which a thread had to give way.

use super::Search;
use crate::failure::Failure;
use crate::seam::Program;
use crate::strategy::{Notes, WorkItem};

/// So many alternatives of an execution that was cut are kept.
const ALTERNATIVES: usize = 2_000;

impl<P: Program> Search<'_, P> {
    /// The execution that ran last, through an item, was cut short by a limit, and shows these failures by that.
    pub(super) fn take_endless(&mut self, item: &WorkItem, notes: &mut Notes, failures: &[Failure]) {
        self.stats.pruned += 1;
        self.cut = Some(self.cut.map_or(item.cost, |cut| cut.min(item.cost)));
        self.cache.withdraw(&notes.entered, item.id);
        // It goes round in circles; leaving it anywhere in them is more of the same, and not covered anyway.
        notes.alternatives.truncate(ALTERNATIVES);
        notes.endless = true;
        self.uniform = Some(Vec::new());
        self.note_if_unfair(failures);
    }

    /// What the execution that ran last, through an item, has left out is a gap in what is covered.
    pub(super) fn note_gap(&mut self, item: &WorkItem) {
        if self.runner.ending.left_out {
            self.cut = Some(self.cut.map_or(item.cost, |cut| cut.min(item.cost)));
        }
    }

    /// Tells the user of an execution that did not end, and shows nothing.
    fn note_if_unfair(&mut self, failures: &[Failure]) {
        const BEGINNING: &str = "executions were cut";
        let events = self.runner.trace.steps.len();
        let is_known = || self.notes.iter().any(|known| known.starts_with(BEGINNING));
        if failures.is_empty() && !is_known() {
            self.notes.push(format!(
                "{BEGINNING} after {events} events (--step-limit): their schedules kept a thread waiting that could have gone \
                 on, so that they show no failure"
            ));
        }
    }
}
