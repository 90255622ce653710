//! Executions of a search that are run once more, for what a report tells of their events.

use std::sync::Arc;

use checker::limit::Limit;
use checker::names::Site;
use checker::position::Position;
use checker::program::Program;
use checker::race::HiddenSynchronisation;
use checker::trace::Trace;
use rustc_hash::FxHashSet;

use crate::narrate::locations::Places;
use crate::narrate::stacks::Stacks;
use crate::program::source_atomics::Atomics;

/// Executions that were run once more, with their stacks at some events.
#[derive(Default)]
pub(crate) struct RunAgain {
    ran: Vec<(Arc<Trace>, Stacks)>,
    atomics: Atomics,
}

impl RunAgain {
    /// Runs an execution again as far as these events, and says what orders events beyond what takes part in scheduling: the
    /// synchronisation of libraries, and what only the text of the source calls atomic.
    pub(crate) fn find_out(
        &mut self,
        program: &impl Program,
        (trace, events): (&Arc<Trace>, Vec<Position>),
        places: &Places<'_>,
        limit: &Limit,
    ) -> HiddenSynchronisation {
        let stacks = Stacks::of(program, trace, events, limit);
        let accesses =
            trace.steps.iter().map(|step| &step.event).filter(|event| event.op.kind.is_load_or_store());
        let sites: FxHashSet<Site> = accesses.map(|event| event.site).collect();
        let atomic = sites.into_iter().filter(|site| self.atomics.says(places.source(), *site)).collect();
        let hidden = stacks.hidden.clone();
        self.ran.retain(|(known, _)| !Arc::ptr_eq(known, trace));
        self.ran.push((Arc::clone(trace), stacks));
        HiddenSynchronisation { hidden, atomic }
    }

    /// The stacks of an execution that was run again.
    pub(crate) fn stacks(&self, trace: &Arc<Trace>) -> Option<&Stacks> {
        self.ran.iter().find(|(known, _)| Arc::ptr_eq(known, trace)).map(|(_, stacks)| stacks)
    }
}
