//! Scheduling points at synchronisation only, the way of CHESS: Musuvathi, Qadeer: Iterative context bounding for
//! systematic testing of multithreaded programs, PLDI 2007.
//!
//! The paper's theorems 2 and 3: if no execution with so many preemptions, all of them at synchronisation, has a data race,
//! then whatever can be reached with so many preemptions anywhere is reached by these executions. So with a race nothing is
//! covered. All accesses are still events, for the detector; a thread is only not left before them. The synchronisation
//! variables are found out as the executions go: a new one is a new set of scheduling points.
//!
//! The theorems know no fairness. Under it a thread that gives way may go on when another one has moved, if only by an access
//! that no other thread looks at: what is reached may then take a switch between two of these. So where a thread gives way,
//! threads are switched everywhere.

use std::sync::Arc;

use crate::lock_order::{self, LockOrders};
use crate::program::Program;
use crate::race::{self, Pairs, TornAccesses, Triangles};
use crate::search::executor::Executor;
use crate::search::note::SearchNote;
use crate::strategy::{Coverage, Strategy};

/// The points at which threads are switched, and the races that say whether these are enough.
#[derive(Debug, Default)]
pub(in crate::search) struct SwitchPoints {
    pub(in crate::search) races: Pairs,
    pub(in crate::search) triangles: Triangles,
    pub(in crate::search) torn: TornAccesses,
    pub(in crate::search) lock_orders: LockOrders,
    /// Only synchronisation was asked for.
    is_asked_for: bool,
    /// There are new scheduling points, which the backend knows nothing of.
    widened: bool,
    /// Threads are switched at every operation, whatever was asked for: one of them gives way.
    everywhere: bool,
}

impl SwitchPoints {
    pub(in crate::search) fn new(only_synchronisation: bool) -> Self {
        Self { is_asked_for: only_synchronisation, ..Self::default() }
    }

    /// Takes the synchronisation variables that are known as the places where threads are switched.
    pub(in crate::search) fn apply<P: Program>(&self, executor: &mut Executor<'_, P>) {
        let is_narrow = self.is_asked_for && !self.everywhere;
        executor.runner.only_at = is_narrow.then(|| Arc::new(self.races.variables().clone()));
    }

    /// Starts again with more key points.
    pub(in crate::search) fn restart<P: Program>(&mut self, executor: &mut Executor<'_, P>) {
        self.races.restart();
        self.triangles = Triangles::default();
        self.torn = TornAccesses::default();
        self.lock_orders.restart();
        self.apply(executor);
    }

    /// Whether threads have to be switched at more places than before; says so once.
    pub(in crate::search) fn take_widened(&mut self) -> bool {
        std::mem::take(&mut self.widened)
    }

    /// The note about that.
    pub(in crate::search) fn notes(&self) -> impl Iterator<Item = SearchNote> {
        let races = self.races.is_cut().then_some(SearchNote::ManyRaces(race::MOST));
        let orders = self.lock_orders.is_cut().then_some(SearchNote::ManyLockOrders(lock_order::MOST));
        let everywhere = self.everywhere.then_some(SearchNote::SwitchedEverywhere);
        [races, orders, everywhere].into_iter().flatten()
    }

    /// Looks for races and for the orders of locks in what ran last; `failed` says how it ended, if it went to its end.
    pub(in crate::search) fn take_races<P: Program>(
        &mut self,
        executor: &Executor<'_, P>,
        failed: Option<bool>,
    ) {
        let runner = &executor.runner;
        if executor.is_checked {
            self.triangles.take(&runner.trace, &runner.summary.store_buffers);
            self.torn.take(&runner.trace);
        }
        // Events that order two accesses may have been left out.
        if !executor.is_narrow && (executor.options.races || self.is_asked_for) {
            let new = self.races.take(&runner.trace, failed);
            if self.is_asked_for && !self.everywhere {
                self.everywhere = runner.trace.steps.iter().any(|step| step.event.op.kind.gives_way());
                self.widened |= new || self.everywhere;
            }
        }
        if !executor.is_narrow && executor.options.lock_order {
            self.lock_orders.take(&runner.trace, self.races.variables());
        }
    }

    /// Whether there is something of which more executions tell whether it counts.
    pub(in crate::search) fn is_to_confirm(&self) -> bool {
        !(self.races.is_empty() && self.torn.is_empty() && self.lock_orders.is_empty())
    }

    /// Whether switching at synchronisation only may have left something out. With a new synchronisation variable, what had
    /// a race before may have none now, but was not switched at either.
    pub(in crate::search) fn is_too_narrow(&self) -> bool {
        let is_racy = !self.everywhere && !self.races.is_empty();
        self.is_asked_for && (self.widened || is_racy)
    }

    /// The part that has been explored completely.
    pub(in crate::search) fn coverage(&self, strategy: &dyn Strategy, cut: Option<u32>) -> Coverage {
        if self.is_too_narrow() { Coverage::default() } else { strategy.coverage(cut) }
    }

    /// The part that has been explored completely of the schedules that switch threads at synchronisation only. `None` where
    /// they were switched everywhere.
    pub(in crate::search) fn at_synchronisation(
        &self,
        strategy: &dyn Strategy,
        cut: Option<u32>,
    ) -> Option<Coverage> {
        let covered = if self.widened { Coverage::default() } else { strategy.coverage(cut) };
        (self.is_asked_for && !self.everywhere).then_some(covered)
    }
}
