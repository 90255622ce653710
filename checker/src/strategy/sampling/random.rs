//! A random walk: at each point every agent is equally likely, and then every way in which it can go.
//!
//! The plain baseline that Paul Thomson, Alastair F. Donaldson, Adam Betts: Concurrency Testing Using Controlled
//! Schedulers: An Empirical Study, TOPC 2016, compare with. Schedule n of a seed is the same whatever ran before it.
//! It has no published bound; a schedule of k choices between n agents each has probability 1/n^k.

use super::choices::{agents, run};
use super::rng::SeededRng;
use super::sampler::Sample;
use crate::event::agent::Agent;
use crate::state::scheduling_point::SchedulingPoint;
use crate::strategy::{Decision, Guide, Notes};

/// A random walk.
#[derive(Clone, Copy, Debug, Default)]
pub struct Random;

impl Sample for Random {
    fn guide<'a>(&'a self, rng: SeededRng) -> Box<dyn Guide + 'a> {
        Box::new(RandomWalkGuide { rng, agents: Vec::new() })
    }

    fn speculate(&self, rng: SeededRng) -> Option<(Box<dyn Guide + Send>, u32)> {
        Some((Box::new(RandomWalkGuide { rng, agents: Vec::new() }), self.basis()))
    }
}

struct RandomWalkGuide {
    rng: SeededRng,
    agents: Vec<Agent>,
}

impl Guide for RandomWalkGuide {
    fn choose(&mut self, at: &SchedulingPoint<'_>) -> Decision {
        self.agents.clear();
        self.agents.extend(agents(at));
        let agent = self.rng.one_of(&self.agents);
        run(at, agent, &mut self.rng)
    }

    fn pass(&mut self, _at: &SchedulingPoint<'_>) {}

    fn notes(self: Box<Self>) -> Notes {
        Notes::default()
    }
}
