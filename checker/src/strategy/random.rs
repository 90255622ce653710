//! A random walk: at each point every agent is equally likely, and then every way in which it can go.
//!
//! The plain baseline that Paul Thomson, Alastair F. Donaldson, Adam Betts: Concurrency Testing Using Controlled
//! Schedulers: An Empirical Study, TOPC 2016, compare with. Schedule n of a seed is the same whatever ran before it.

use rand::rngs::ChaCha8Rng;
use rand::{RngExt as _, SeedableRng as _};

use super::{Coverage, Decision, Guide, Next, Notes, Strategy, WorkItem};
use crate::cache::Cache;
use crate::point::Point;
use crate::seam::{Agent, Epoch, Until};
use crate::trace::Trace;

/// Hands out one schedule number after another.
#[derive(Clone, Copy, Debug)]
pub struct Random {
    seed: u64,
    next: u64,
}

impl Random {
    /// All schedules of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { seed, next: 0 }
    }
}

impl Strategy for Random {
    fn next(&mut self, _cache: &Cache) -> Next {
        let id = self.next;
        self.next += 1;
        Next::Work(WorkItem { id, prefix: Vec::new(), cost: 0, branch: None })
    }

    fn guide<'a>(&'a self, item: &WorkItem, _cache: &'a Cache) -> Box<dyn Guide + 'a> {
        let mut source = ChaCha8Rng::seed_from_u64(self.seed);
        source.set_stream(item.id);
        Box::new(Walk { source, agents: Vec::new() })
    }

    fn learn(&mut self, _item: &WorkItem, _run: &Trace, _notes: Notes, _cache: &Cache) {}

    fn reset(&mut self, _epoch: Epoch) {}

    fn coverage(&self, _cut: Option<u32>) -> Coverage {
        Coverage::default()
    }

    fn bound(&self) -> Option<u32> {
        None
    }
}

struct Walk {
    source: ChaCha8Rng,
    agents: Vec<Agent>,
}

impl Guide for Walk {
    fn choose(&mut self, at: &Point<'_>) -> Decision {
        self.agents.clear();
        self.agents.extend(at.choices.iter().map(|choice| choice.agent));
        self.agents.dedup();
        if self.agents.is_empty() {
            return Decision::Cut;
        }
        let agent = self.agents[self.source.random_range(0..self.agents.len())];
        let mut ways = at.choices.iter().filter(|choice| choice.agent == agent);
        let way = self.source.random_range(0..ways.clone().count());
        ways.nth(way).map_or(Decision::Cut, |&choice| Decision::Run { choice, until: Until::one() })
    }

    fn pass(&mut self, _at: &Point<'_>) {}

    fn notes(self: Box<Self>) -> Notes {
        Notes::default()
    }
}
