//! Schedules, stored compactly: a frontier holds hundreds of thousands of prefixes of them.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::event::agent::Choice;
use crate::event::step::OpKey;

/// Choices with their operations, each stored once.
#[derive(Debug, Default)]
pub(super) struct Steps {
    known: Vec<(Choice, OpKey)>,
    numbers: FxHashMap<(Choice, OpKey), u32>,
}

impl Steps {
    pub(super) fn number(&mut self, step: (Choice, OpKey)) -> u32 {
        if let Some(&number) = self.numbers.get(&step) {
            return number;
        }
        let number = self.known.len() as u32;
        self.known.push(step.clone());
        self.numbers.insert(step, number);
        number
    }

    fn step(&self, number: u32) -> (Choice, OpKey) {
        self.known[number as usize].clone()
    }

    /// The steps of a prefix, and the one after it.
    pub(super) fn read(&self, prefix: &PathPrefix, then: u32) -> Vec<(Choice, OpKey)> {
        prefix.steps().into_iter().chain([then]).map(|number| self.step(number)).collect()
    }
}

/// The number of times that a path may refer to another one: long chains would be slow to read and deep to drop.
const MAX_LINKS: u32 = 64;

/// A schedule: a prefix of another one, and what came then.
#[derive(Debug)]
pub(super) struct Path {
    prefix: Option<PathPrefix>,
    tail: Tail,
    links: u32,
}

/// The first `length` steps of a path.
#[derive(Clone, Debug)]
pub(super) struct PathPrefix {
    pub(super) path: Arc<Path>,
    pub(super) length: u32,
}

/// Numbers of steps. Most programs have fewer than 65,536 different ones.
#[derive(Debug)]
enum Tail {
    Narrow(Box<[u16]>),
    Wide(Box<[u32]>),
}

impl Tail {
    fn new(numbers: Vec<u32>) -> Self {
        let narrow: Result<Vec<u16>, _> = numbers.iter().map(|&number| number.try_into()).collect();
        narrow.map_or_else(|_| Self::Wide(numbers.into()), |narrow| Self::Narrow(narrow.into()))
    }

    fn copy(&self, length: usize, into: &mut Vec<u32>) {
        match self {
            Self::Narrow(all) => into.extend(all[..length].iter().copied().map(u32::from)),
            Self::Wide(all) => into.extend_from_slice(&all[..length]),
        }
    }
}

impl Path {
    /// A path that shares its beginning with another one.
    pub(super) fn new(prefix: Option<PathPrefix>, tail: Vec<u32>) -> Self {
        match prefix {
            Some(prefix) if prefix.path.links < MAX_LINKS => {
                Self { links: prefix.path.links + 1, prefix: Some(prefix), tail: Tail::new(tail) }
            }
            Some(prefix) => {
                let mut all = prefix.steps();
                all.extend(tail);
                Self { prefix: None, tail: Tail::new(all), links: 0 }
            }
            None => Self { prefix: None, tail: Tail::new(tail), links: 0 },
        }
    }
}

impl PathPrefix {
    /// The numbers of the steps.
    pub(super) fn steps(&self) -> Vec<u32> {
        let mut all = Vec::with_capacity(self.length as usize);
        self.collect(&mut all);
        all
    }

    fn collect(&self, into: &mut Vec<u32>) {
        let shared = self.path.prefix.as_ref().map_or(0, |prefix| prefix.length.min(self.length));
        if let Some(prefix) = &self.path.prefix {
            Self { path: prefix.path.clone(), length: shared }.collect(into);
        }
        self.path.tail.copy((self.length - shared) as usize, into);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_prefix_of_a_long_chain_reads_back() {
        let mut path = Arc::new(Path::new(None, vec![0, 1, 2]));
        let mut plain = vec![0, 1, 2];
        for round in 65_430..65_630 {
            let length = plain.len() as u32 - round % 3;
            plain.truncate(length as usize);
            plain.extend([round, round + 1]);
            path = Arc::new(Path::new(Some(PathPrefix { path, length }), vec![round, round + 1]));
            for length in 0..=plain.len() {
                let prefix = PathPrefix { path: path.clone(), length: length as u32 };
                assert_eq!(prefix.steps(), plain[..length]);
            }
        }
        assert!(path.links <= MAX_LINKS);
    }
}
