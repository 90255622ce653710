//! Scheduling points at synchronisation only, the way of CHESS: Musuvathi, Qadeer: Iterative context bounding for
//! systematic testing of multithreaded programs, PLDI 2007.
//!
//! The paper's theorems 2 and 3: if no execution with so many preemptions, all of them at synchronisation, has a data race,
//! then whatever can be reached with so many preemptions anywhere is reached by these executions. So with a race nothing is
//! covered. All accesses are still events, for the detector; a thread is only not left before them. The synchronisation
//! variables are found out as the executions go: a new one is a new set of scheduling points.

use std::sync::Arc;

use super::Search;
use crate::seam::Program;
use crate::strategy::Coverage;

impl<P: Program> Search<'_, P> {
    /// Takes the synchronisation variables that are known as the places where threads are switched.
    pub(super) fn switch_at_synchronisation(&mut self) {
        if self.options.only_synchronisation {
            self.runner.only_at = Some(Arc::new(self.races.variables().clone()));
        }
    }

    /// Whether switching at synchronisation only has left something out, as far as one can tell.
    pub(super) fn is_too_narrow(&self) -> bool {
        self.options.only_synchronisation && !self.races.is_empty()
    }

    /// What has been explored completely.
    pub(super) fn coverage(&self) -> Coverage {
        if self.is_too_narrow() { Coverage::default() } else { self.strategy.coverage(self.cut) }
    }
}
