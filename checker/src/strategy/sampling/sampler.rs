//! The common part of the random searches: schedule after schedule, each from the numbers of its own stream. They cover
//! nothing.

use std::collections::VecDeque;

use super::rng::SeededRng;
use crate::cache::Cache;
use crate::program::Epoch;
use crate::strategy::{Coverage, Guide, Next, Notes, SpeculationValidity, Strategy, WorkItem};
use crate::trace::Trace;

/// A rule that makes a random search out of random numbers.
pub trait Sample: Send {
    /// The guide that takes one execution to its end by these numbers.
    fn guide<'a>(&'a self, rng: SeededRng) -> Box<dyn Guide + 'a>;

    /// The same for an execution ahead of its turn, with what the choices depend on beside the numbers: should that be
    /// another one by then, the execution does not count. `None` where each execution changes what the next one does.
    fn speculate(&self, _rng: SeededRng) -> Option<(Box<dyn Guide + Send>, u32)> {
        None
    }

    /// The number on which choices depend beside the random ones, for [`Sample::speculate`].
    fn basis(&self) -> u32 {
        0
    }

    /// Takes in what ran, where later schedules depend on it.
    fn learn(&mut self, _run: &Trace) {}

    /// Forgets what was learnt: key points were added.
    fn forget(&mut self) {}
}

/// Hands out one schedule number after another.
#[derive(Clone, Debug)]
pub struct Sampler<S> {
    pub(in crate::strategy) sample: S,
    seed: u64,
    next: u64,
    /// The least item that has not been looked at for being run ahead of its turn.
    next_speculative: u64,
    /// Items that are run ahead, each with what its choices depend on.
    early: VecDeque<(u64, u32)>,
}

impl<S: Sample> Sampler<S> {
    /// All schedules of a seed.
    #[must_use]
    pub fn new(sample: S, seed: u64) -> Self {
        Self { sample, seed, next: 0, next_speculative: 0, early: VecDeque::new() }
    }
}

impl<S: Sample> Strategy for Sampler<S> {
    fn next(&mut self, _cache: &Cache) -> Next {
        let id = self.next;
        self.next += 1;
        Next::Work(item(id))
    }

    fn guide<'a>(&'a self, item: &WorkItem, _cache: &'a Cache) -> Box<dyn Guide + 'a> {
        self.sample.guide(SeededRng::new(self.seed, item.id))
    }

    fn speculate(&mut self, _cache: &Cache, others: usize) -> Option<(WorkItem, Box<dyn Guide + Send>)> {
        let mut id = self.next_speculative.max(self.next);
        // One in so many is left to the worker that runs the search.
        id += u64::from(id.is_multiple_of(others as u64 + 1));
        let (guide, basis) = self.sample.speculate(SeededRng::new(self.seed, id))?;
        self.next_speculative = id + 1;
        self.early.push_back((id, basis));
        Some((item(id), guide))
    }

    fn validate_speculation(
        &mut self,
        item: &WorkItem,
        _notes: &mut Notes,
        _cache: &Cache,
    ) -> SpeculationValidity {
        while self.early.front().is_some_and(|&(id, _)| id < item.id) {
            self.early.pop_front();
        }
        let now = Some(&(item.id, self.sample.basis()));
        if self.early.front() == now { SpeculationValidity::Valid } else { SpeculationValidity::Invalid }
    }

    fn learn(&mut self, _item: &WorkItem, run: &Trace, _notes: Notes, _cache: &Cache) {
        self.sample.learn(run);
    }

    fn observe(&mut self, run: &Trace) {
        self.sample.learn(run);
    }

    fn reset(&mut self, _epoch: Epoch) {
        self.sample.forget();
        self.next_speculative = self.next;
        self.early.clear();
    }

    fn coverage(&self, _cut: Option<u32>) -> Coverage {
        Coverage::default()
    }

    fn bound(&self) -> Option<u32> {
        None
    }
}

fn item(id: u64) -> WorkItem {
    WorkItem { id, prefix: Vec::new(), cost: 0, branch: None }
}
