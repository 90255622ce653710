//! The source of the numbers of random searches.

#[cfg(test)]
use std::sync::{Arc, Mutex};

use rand::rngs::ChaCha8Rng;
use rand::{RngExt as _, SeedableRng as _};

/// A stream of random numbers: schedule n of a seed has the same ones whatever ran before it.
#[derive(Debug)]
pub struct SeededRng(Source);

#[derive(Debug)]
enum Source {
    Seeded(Box<ChaCha8Rng>),
    #[cfg(test)]
    Script(Arc<Mutex<Script>>),
}

impl SeededRng {
    /// The numbers of one schedule of a seed.
    #[must_use]
    pub fn new(seed: u64, schedule: u64) -> Self {
        let mut source = ChaCha8Rng::seed_from_u64(seed);
        source.set_stream(schedule);
        Self(Source::Seeded(Box::new(source)))
    }

    /// One of `0..count`, each equally likely; 0 where there is no choice.
    pub fn below(&mut self, count: usize) -> usize {
        if count <= 1 {
            return 0;
        }
        match &mut self.0 {
            Source::Seeded(source) => source.random_range(0..count),
            #[cfg(test)]
            Source::Script(script) => script.lock().unwrap().below(count),
        }
    }

    /// One of the elements, each equally likely.
    pub fn one_of<T: Copy>(&mut self, all: &[T]) -> Option<T> {
        all.get(self.below(all.len())).copied()
    }

    /// A priority: a number so wide that no two are equal.
    pub fn priority(&mut self) -> u64 {
        match &mut self.0 {
            Source::Seeded(source) => source.random(),
            #[cfg(test)]
            Source::Script(_) => panic!("priorities cannot be enumerated"),
        }
    }
}

/// Every sequence of numbers that a search can be given, one after another: so a probability is computed, not estimated.
#[cfg(test)]
#[derive(Debug, Default)]
pub(crate) struct Script {
    /// The number taken, and the count of numbers that it was taken from.
    taken: Vec<(usize, usize)>,
    at: usize,
}

#[cfg(test)]
impl Script {
    fn below(&mut self, count: usize) -> usize {
        if self.at == self.taken.len() {
            self.taken.push((0, count));
        }
        let (number, of) = self.taken[self.at];
        assert_eq!(of, count, "the search is no function of its numbers");
        self.at += 1;
        number
    }

    /// The numbers of the sequence that is due.
    pub(crate) fn rng(script: &Arc<Mutex<Self>>) -> SeededRng {
        script.lock().unwrap().at = 0;
        SeededRng(Source::Script(script.clone()))
    }

    /// The inverse of the probability of the sequence that was taken.
    pub(crate) fn one_in(&self) -> u128 {
        self.taken.iter().map(|&(_, of)| of as u128).product()
    }

    /// Goes on to the next sequence; whether there is one.
    pub(crate) fn advance(&mut self) -> bool {
        while let Some((number, of)) = self.taken.pop() {
            if number + 1 < of {
                self.taken.push((number + 1, of));
                return true;
            }
        }
        false
    }
}
