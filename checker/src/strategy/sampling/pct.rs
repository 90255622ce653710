//! Probabilistic concurrency testing: threads run by random priorities, which change at d - 1 random key points.
//!
//! Sebastian Burckhardt, Pravesh Kothari, Madanlal Musuvathi, Santosh Nagarakatte: A Randomized Scheduler with
//! Probabilistic Guarantees of Finding Bugs, ASPLOS 2010. Published bound: of a program with n threads and k key points,
//! each schedule finds a failure of depth d with probability at least 1/(n k^(d-1)).
//!
//! Deviations: n need not be known, since a new thread is inserted at a random place among the priorities that have not
//! been lowered; k is the most key points seen so far, so that the first schedule changes no priority and the bound holds
//! once k is right; an open timed wait has a priority of its own; a thread that gives way goes to the bottom.

use super::choices::{agents, run};
use super::rng::SeededRng;
use super::sampler::Sample;
use crate::event::agent::{Agent, AgentView};
use crate::event::position::Position;
use crate::state::scheduling_point::SchedulingPoint;
use crate::strategy::{Decision, Guide, Notes};
use crate::trace::Trace;

/// Random priorities that change at a number of key points.
#[derive(Clone, Copy, Debug)]
pub struct Pct {
    depth: u32,
    /// The most key points that an execution had.
    longest: u32,
}

impl Pct {
    /// For failures of this depth, at least 1.
    #[must_use]
    pub fn new(depth: u32) -> Self {
        Self { depth: depth.max(1), longest: 0 }
    }
}

impl Pct {
    fn by_priority(&self, mut rng: SeededRng) -> PctGuide {
        let changes = if self.longest == 0 { 0 } else { self.depth - 1 };
        let changes = (0..changes).map(|_| Position::after(rng.below(self.longest as usize))).collect();
        PctGuide { rng, priorities: AgentPriorities::default(), changes }
    }
}

impl Sample for Pct {
    fn guide<'a>(&'a self, rng: SeededRng) -> Box<dyn Guide + 'a> {
        Box::new(self.by_priority(rng))
    }

    fn speculate(&self, rng: SeededRng) -> Option<(Box<dyn Guide + Send>, u32)> {
        Some((Box::new(self.by_priority(rng)), self.basis()))
    }

    fn basis(&self) -> u32 {
        self.longest
    }

    fn learn(&mut self, run: &Trace) {
        self.longest = self.longest.max(run.steps.len() as u32);
    }

    fn forget(&mut self) {
        self.longest = 0;
    }
}

/// The priorities of agents.
#[derive(Clone, Debug, Default)]
pub(super) struct AgentPriorities {
    /// Every agent seen, the highest initial priority first.
    initial: Vec<Agent>,
    /// Below these: lowered at the change point of this number. A later one is higher, as in the paper.
    lowered: Vec<(usize, Agent)>,
    /// Below those: gave way, the latest last and lowest.
    bottom: Vec<Agent>,
}

impl AgentPriorities {
    /// Gives agents that are new a random place among those that are not.
    pub(super) fn admit(&mut self, at: &SchedulingPoint<'_>, rng: &mut SeededRng) {
        for agent in at.agents.threads().iter().chain(at.agents.others()).map(|view| view.agent) {
            if !self.initial.contains(&agent) {
                let place = rng.below(self.initial.len() + 1);
                self.initial.insert(place, agent);
            }
        }
    }

    /// Of those that can be chosen, the one with the highest priority.
    pub(super) fn highest(&self, at: &SchedulingPoint<'_>) -> Option<Agent> {
        agents(at).max_by_key(|&agent| self.rank(agent))
    }

    fn rank(&self, agent: Agent) -> (u32, usize) {
        let initial = self.initial.iter().rev().position(|&known| known == agent).unwrap_or_default();
        let lowered = self.lowered.iter().find(|&&(_, known)| known == agent).map(|&(number, _)| (1, number));
        let bottom = self.bottom.iter().rev().position(|&known| known == agent).map(|nth| (0, nth));
        bottom.or(lowered).unwrap_or((2, initial))
    }

    /// The change point of this number is reached by an agent.
    pub(super) fn lower(&mut self, agent: Agent, number: usize) {
        self.lowered.retain(|&(_, known)| known != agent);
        self.lowered.push((number, agent));
    }

    /// Moves an agent that gives way to the bottom.
    pub(super) fn sink_if_yielding(&mut self, at: &SchedulingPoint<'_>, agent: Agent) {
        if at.agents.agent(agent).is_some_and(AgentView::gives_way) {
            self.bottom.retain(|&known| known != agent);
            self.bottom.push(agent);
        }
    }
}

struct PctGuide {
    rng: SeededRng,
    priorities: AgentPriorities,
    /// Of each change point, before which event.
    changes: Vec<Position>,
}

impl Guide for PctGuide {
    fn choose(&mut self, at: &SchedulingPoint<'_>) -> Decision {
        self.priorities.admit(at, &mut self.rng);
        for (number, _) in self.changes.iter().enumerate().filter(|&(_, &change)| change == at.position()) {
            if let Some(agent) = self.priorities.highest(at) {
                self.priorities.lower(agent, number);
            }
        }
        let agent = self.priorities.highest(at);
        agent.iter().for_each(|&agent| self.priorities.sink_if_yielding(at, agent));
        run(at, agent, &mut self.rng)
    }

    fn pass(&mut self, _at: &SchedulingPoint<'_>) {}

    fn notes(self: Box<Self>) -> Notes {
        Notes::default()
    }
}
