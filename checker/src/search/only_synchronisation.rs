//! Scheduling points at synchronisation only, the way of CHESS: Musuvathi, Qadeer: Iterative context bounding for
//! systematic testing of multithreaded programs, PLDI 2007.
//!
//! The paper's theorems 2 and 3: if no execution with so many preemptions, all of them at synchronisation, has a data race,
//! then whatever can be reached with so many preemptions anywhere is reached by these executions. So with a race nothing is
//! covered. All accesses are still events, for the detector; a thread is only not left before them. The synchronisation
//! variables are found out as the executions go: a new one is a new set of scheduling points.
//!
//! The theorems know no fairness. Under it a thread that gives way may go on when another one has moved, if only by an access
//! that nobody looks at: what is reached may then take a switch between two of these. So where a thread gives way, threads
//! are switched everywhere.

use std::sync::Arc;

use super::Search;
use crate::program::Program;
use crate::strategy::Coverage;

impl<P: Program> Search<'_, P> {
    /// Takes the synchronisation variables that are known as the places where threads are switched.
    pub(super) fn switch_at_synchronisation(&mut self) {
        let is_narrow = self.options.only_synchronisation && !self.everywhere;
        self.runner.only_at = is_narrow.then(|| Arc::new(self.races.variables().clone()));
    }

    /// Whether the execution that ran last shows that threads have to be switched at more places; `new`: it has shown new
    /// synchronisation variables.
    pub(super) fn widen(&mut self, new: bool) {
        if self.options.only_synchronisation && !self.everywhere {
            self.everywhere = self.runner.trace.steps.iter().any(|step| step.event.op.kind.gives_way());
            self.widened |= new || self.everywhere;
        }
    }

    /// Whether switching at synchronisation only may have left something out. With a new synchronisation variable, what had
    /// a race before may have none now, but was not switched at either.
    pub(super) fn is_too_narrow(&self) -> bool {
        let is_racy = !self.everywhere && !self.races.is_empty();
        self.options.only_synchronisation && (self.widened || is_racy)
    }

    /// What has been explored completely.
    pub(super) fn coverage(&self) -> Coverage {
        if self.is_too_narrow() { Coverage::default() } else { self.strategy.coverage(self.cut) }
    }

    /// What has been explored completely of the schedules that switch threads at synchronisation only. `None` where they
    /// were switched everywhere.
    pub(super) fn at_synchronisation(&self) -> Option<Coverage> {
        let covered = if self.widened { Coverage::default() } else { self.strategy.coverage(self.cut) };
        (self.options.only_synchronisation && !self.everywhere).then_some(covered)
    }
}
