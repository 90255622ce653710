//! RAPOS: random batches of pending operations that commute; operations that depend on a batch are considered for the next one.
//!
//! Koushik Sen: Effective Random Testing of Concurrent Programs, ASE 2007. It has no published bound.
//!
//! A batch is drawn from the schedulable operations in random order: the first is taken, each further one that commutes
//! with all taken ones is taken with probability 1/2. Schedulable next is what can run and depends on the batch: of one
//! of its threads, in conflict with one of its events, or made possible by one. Where that is nothing, one of those that
//! can run is. Deviation: an open timed wait is an operation of its own.

use super::choices::{agents, run};
use super::rng::SeededRng;
use super::sampler::Sample;
use crate::event::agent::Agent;
use crate::event::position::Position;
use crate::state::scheduling_point::SchedulingPoint;
use crate::strategy::{Decision, Guide, Notes};

/// Random batches.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rapos;

impl Sample for Rapos {
    fn guide<'a>(&'a self, rng: SeededRng) -> Box<dyn Guide + 'a> {
        Box::new(Batches::new(rng))
    }

    fn speculate(&self, rng: SeededRng) -> Option<(Box<dyn Guide + Send>, u32)> {
        Some((Box::new(Batches::new(rng)), self.basis()))
    }
}

struct Batches {
    rng: SeededRng,
    /// The rest of the batch, in reverse order.
    batch: Vec<Agent>,
    /// The agents that could run when the batch was drawn.
    before: Vec<Agent>,
    /// The number of events that had run by then.
    from: Position,
}

impl Batches {
    fn new(rng: SeededRng) -> Self {
        Self { rng, batch: Vec::new(), before: Vec::new(), from: Position::START }
    }

    fn is_schedulable(&self, at: &SchedulingPoint<'_>, agent: Agent) -> bool {
        let Some(op) = at.agents.agent(agent).and_then(|view| view.pending.as_ref()) else { return false };
        let depends = |thread, did: &crate::event::operation::Effect| {
            thread == agent.thread() || did.conflicts(&op.may)
        };
        let mut batch = at.trace.steps[self.from..].iter().map(|step| &step.event);
        !self.before.contains(&agent) || batch.any(|event| depends(event.id.thread, &event.did))
    }

    fn draw(&mut self, at: &SchedulingPoint<'_>) {
        let enabled: Vec<Agent> = agents(at).collect();
        let mut schedulable: Vec<Agent> =
            enabled.iter().copied().filter(|&agent| self.is_schedulable(at, agent)).collect();
        if schedulable.is_empty() {
            schedulable.extend(self.rng.one_of(&enabled));
        }
        while !schedulable.is_empty() {
            let agent = schedulable.swap_remove(self.rng.below(schedulable.len()));
            let commutes = self.batch.iter().all(|&other| commute(at, agent, other));
            if self.batch.is_empty() || commutes && self.rng.below(2) == 0 {
                self.batch.push(agent);
            }
        }
        self.batch.reverse();
        self.before = enabled;
        self.from = at.position();
    }
}

fn commute(at: &SchedulingPoint<'_>, one: Agent, other: Agent) -> bool {
    let may = |agent| at.agents.agent(agent).and_then(|view| view.pending.as_ref()).map(|op| &op.may);
    let conflict = match (may(one), may(other)) {
        (Some(one), Some(other)) => one.conflicts(other),
        _ => false,
    };
    one.thread() != other.thread() && !conflict
}

impl Guide for Batches {
    fn choose(&mut self, at: &SchedulingPoint<'_>) -> Decision {
        while let Some(agent) = self.batch.pop() {
            // A yield that has to wait cannot be chosen when its turn comes.
            if at.choices.iter().any(|choice| choice.agent == agent) {
                return run(at, Some(agent), &mut self.rng);
            }
        }
        self.draw(at);
        let agent = self.batch.pop();
        run(at, agent, &mut self.rng)
    }

    fn pass(&mut self, _at: &SchedulingPoint<'_>) {}

    fn notes(self: Box<Self>) -> Notes {
        Notes::default()
    }
}
