//! Partial order sampling: every pending event has a random priority, and what an event races with gets a fresh one.
//!
//! Xinhao Yuan, Junfeng Yang, Ronghui Gu: Partial Order Aware Concurrency Sampling, CAV 2018. Published bound (Theorem 1):
//! a partial order of events V with D races of a program with P > 1 threads is sampled with probability at least
//! (1/P)^|V| R^U, where R = P|V|/(|V| + D) and U = (|V| - ⌈D/(P - 1)⌉)/2. It is for [`Racing::SameObject`].
//!
//! `pos` is the relaxation POS* of the paper ([`Racing::Conflicts`]): reads do not race with reads. No bound is published
//! for it, nor for BasicPOS ([`Racing::Nothing`], `basic-pos`), in which priorities stay.
//!
//! Deviations: blocked events are pending too, and get fresh priorities; an open timed wait is an event of its own. The
//! workaround for busy loops (fresh priorities after 1000 yields) is not needed: at a yield others go first
//! ([`SchedulingPoint::yields`]), and a loop that only looks is blocked.

use super::choices::{agents, run};
use super::rng::SeededRng;
use super::sampler::Sample;
use crate::event::agent::{Agent, AgentView};
use crate::event::operation::Effect;
use crate::event::position::Position;
use crate::state::scheduling_point::SchedulingPoint;
use crate::strategy::{Decision, Guide, Notes};
use crate::trace::TraceStep;

/// The pending events that an event races with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Racing {
    /// None.
    Nothing,
    /// Those that touch one object: POS of the paper.
    SameObject,
    /// Those that do not commute with it: POS*.
    Conflicts,
}

impl Racing {
    fn races(self, did: &Effect, may: &Effect) -> bool {
        match self {
            Self::Nothing => false,
            Self::Conflicts => did.conflicts(may),
            Self::SameObject => {
                let touches = |obj| may.accesses.iter().any(|access| access.obj.overlaps(obj));
                did.conflicts(may) || did.accesses.iter().any(|access| touches(&access.obj))
            }
        }
    }
}

/// Random priorities of events.
#[derive(Clone, Copy, Debug)]
pub struct Pos {
    racing: Racing,
}

impl Pos {
    /// A search in which these events get fresh priorities.
    #[must_use]
    pub fn new(racing: Racing) -> Self {
        Self { racing }
    }
}

impl Sample for Pos {
    fn guide<'a>(&'a self, rng: SeededRng) -> Box<dyn Guide + 'a> {
        Box::new(PosGuide { rng, priorities: EventPriorities::new(self.racing) })
    }

    fn speculate(&self, rng: SeededRng) -> Option<(Box<dyn Guide + Send>, u32)> {
        Some((Box::new(PosGuide { rng, priorities: EventPriorities::new(self.racing) }), self.basis()))
    }
}

/// The priorities of pending events.
#[derive(Clone, Debug)]
pub(in crate::strategy) struct EventPriorities {
    racing: Racing,
    pending: Vec<(Agent, u64)>,
    /// The number of events that have been looked at.
    seen: Position,
}

impl EventPriorities {
    pub(in crate::strategy) fn new(racing: Racing) -> Self {
        Self { racing, pending: Vec::new(), seen: Position::START }
    }

    /// Draws priorities for pending events that are new or were raced with.
    pub(in crate::strategy) fn refresh(&mut self, at: &SchedulingPoint<'_>, rng: &mut SeededRng) {
        for step in &at.trace.steps[self.seen..] {
            self.pending.retain(|&(agent, _)| !is_affected(self.racing, at.agents.agent(agent), step));
        }
        self.seen = at.position();
        let views = at.agents.threads().iter().chain(at.agents.others());
        for view in views.filter(|view| view.pending.is_some()) {
            if !self.pending.iter().any(|&(agent, _)| agent == view.agent) {
                self.pending.push((view.agent, rng.priority()));
            }
        }
    }

    /// The priority of an agent's pending event.
    pub(in crate::strategy) fn of(&self, agent: Agent) -> u64 {
        self.pending.iter().find(|&&(known, _)| known == agent).map_or(0, |&(_, priority)| priority)
    }
}

fn is_affected(racing: Racing, view: Option<&AgentView>, step: &TraceStep) -> bool {
    let Some(view) = view else { return true };
    let races = |may| racing.races(&step.event.did, may);
    view.agent.thread() == step.event.id.thread || view.pending.as_ref().is_some_and(|op| races(&op.may))
}

struct PosGuide {
    rng: SeededRng,
    priorities: EventPriorities,
}

impl Guide for PosGuide {
    fn choose(&mut self, at: &SchedulingPoint<'_>) -> Decision {
        self.priorities.refresh(at, &mut self.rng);
        let agent = agents(at).max_by_key(|&agent| self.priorities.of(agent));
        run(at, agent, &mut self.rng)
    }

    fn pass(&mut self, _at: &SchedulingPoint<'_>) {}

    fn notes(self: Box<Self>) -> Notes {
        Notes::default()
    }
}
