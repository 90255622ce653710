//! Several workers: items are run ahead of their turn, and their results are taken in when it comes.
//!
//! The search itself stays in the hands of one thread, which takes items in the order in which it would alone. The other
//! workers run what was chosen to come next ([`Strategy::speculate`]), each on its own. When it is the turn of such an item
//! its result stands for the execution, if that would be the same or a longer one ([`Strategy::validate_speculation`]); else the item is
//! run. So all that is counted, covered, found and said is the same with any number of workers, and in every run.
//!
//! Anything that goes wrong elsewhere (key points were found, the program could not be started, a worker is gone) is no result:
//! the item is run here, where it goes wrong in its turn, or does not.

use std::collections::VecDeque;

use rustc_hash::{FxHashMap, FxHashSet};

use super::workers::{Job, JobOutcome, Ran, TraceBuffer, Workers};
use crate::cache::Cache;
use crate::execution::RunOutcome;
use crate::limit::Limit;
use crate::program::{Program, Scope};
use crate::search::executor::Executor;
use crate::strategy::{Notes, SpeculationValidity, Strategy, WorkItem};

/// So many events of results may wait for their turn: about 100 MB. The oldest results are dropped for new ones, since
/// what was run first comes last where a search goes deep.
const MAX_EVENTS: usize = 200_000;

/// The items that are run ahead of their turn.
pub(in crate::search) struct SpeculativeRuns<'a> {
    workers: Box<dyn Workers + 'a>,
    /// Not collected yet.
    out: FxHashSet<u64>,
    done: FxHashMap<u64, JobOutcome>,
    /// The keys of `done` in the order in which they came, and perhaps some more.
    order: VecDeque<u64>,
    /// Of all that is done.
    events: usize,
}

impl<'a> SpeculativeRuns<'a> {
    pub(in crate::search) fn new(workers: Box<dyn Workers + 'a>) -> Self {
        Self {
            workers,
            out: FxHashSet::default(),
            done: FxHashMap::default(),
            order: VecDeque::new(),
            events: 0,
        }
    }

    /// Forgets all that was handed out.
    pub(in crate::search) fn forget(&mut self) {
        for id in self.out.drain() {
            self.workers.recall(id);
        }
        let done = self.done.drain().map(|(id, _)| id);
        done.for_each(|id| self.workers.unused(id));
        self.order.clear();
        self.events = 0;
    }

    /// Takes in what is done.
    fn collect(&mut self, wait: bool) {
        let mut next = self.workers.collect(wait);
        while let Some(done) = next {
            self.keep(done);
            next = self.workers.collect(false);
        }
    }

    fn keep(&mut self, done: JobOutcome) {
        if !self.out.remove(&done.id()) {
            self.workers.unused(done.id());
            return;
        }
        self.events += done.events();
        self.order.push_back(done.id());
        self.done.insert(done.id(), done);
        while self.events > MAX_EVENTS
            && let Some(oldest) = self.order.pop_front()
        {
            if self.take(oldest).is_some() {
                self.workers.unused(oldest);
            }
        }
    }

    fn take(&mut self, id: u64) -> Option<Ran> {
        let done = self.done.remove(&id)?;
        self.events -= done.events();
        if self.order.len() > 2 * self.done.len() + 64 {
            self.order.retain(|id| self.done.contains_key(id));
        }
        done.ran
    }

    /// Gives the other workers something to do.
    pub(in crate::search) fn hand_out<P: Program>(
        &mut self,
        strategy: &mut dyn Strategy,
        cache: &Cache,
        executor: &Executor<'_, P>,
    ) {
        let others = self.workers.count();
        for _ in 0..self.workers.room() {
            let Some((item, guide)) = strategy.speculate(cache, others) else { return };
            self.out.insert(item.id);
            let only_at = executor.runner.only_at.clone();
            let job = Job { item, guide, limits: executor.runner.limits, only_at, epoch: executor.epoch };
            self.workers.hand_out(job);
        }
    }

    /// The execution of an item, if another worker has run it and it would be the same now: as if it had run here.
    pub(in crate::search) fn take_over<P: Program>(
        &mut self,
        item: &WorkItem,
        (strategy, cache): (&mut dyn Strategy, &Cache),
        executor: &mut Executor<'_, P>,
    ) -> Option<(RunOutcome, Notes)> {
        let Ran { mut end, mut notes, mut trace, summary, termination } =
            self.fetch(item.id, &executor.options.limit)?;
        match strategy.validate_speculation(item, &mut notes, cache) {
            SpeculationValidity::Valid => {}
            // Of failures, of variables that threads spin on and of what was left out it is not known when they showed.
            SpeculationValidity::ValidUntil(at)
                if end.failures().is_empty() && trace.spun_on.is_empty() && !summary.left_out =>
            {
                trace.cut(at);
                end = RunOutcome::Pruned;
            }
            SpeculationValidity::ValidUntil(_) | SpeculationValidity::Invalid => {
                self.workers.unused(item.id);
                return None;
            }
        }
        executor.is_checked = strategy.guide(item, cache).scope() == Scope::Audit;
        self.workers.used(item.id, trace.steps.len() as u32, &summary);
        let old = executor.runner.take_over(trace, summary, termination);
        self.workers.give_back(TraceBuffer(old));
        executor.runner.attribute(&mut end, &Scope::All);
        Some((end, notes))
    }

    /// The result of an item that another worker has run, or is about to have run.
    fn fetch(&mut self, id: u64, limit: &Limit) -> Option<Ran> {
        self.collect(false);
        while self.out.contains(&id) {
            let stops = limit.is_over();
            if self.workers.recall(id) || stops || !self.workers.holds(id) {
                // Running it here says why to stop.
                self.out.remove(&id);
                return None;
            }
            self.collect(true);
        }
        self.take(id)
    }
}
