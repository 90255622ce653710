//! Guides that run threads by strict priority: the highest that can go, always.

use super::order::PriorityOrder;
use crate::event::agent::{Agent, AgentView, Choice};
use crate::explain::plan::{one, way};
use crate::state::scheduling_point::SchedulingPoint;
use crate::strategy::{Decision, Guide, Notes};
use crate::trace::TraceStep;

/// A decision at a scheduling point.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum PriorityMove {
    /// A change point: this agent is lowered here.
    Lower(Agent),
    /// This agent has the highest priority, and runs.
    Run(Choice),
}

/// Something else that could have been decided.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Other {
    /// The number of moves before it.
    pub(super) at: usize,
    pub(super) instead: PriorityMove,
}

/// Makes the moves given, and then the first ones that there are, without change points.
pub(super) struct PriorityGuide {
    order: PriorityOrder,
    /// Those given, and then those made.
    pub(super) moves: Vec<PriorityMove>,
    given: usize,
    next: usize,
    /// The other decisions that could have been taken after the moves given.
    pub(super) others: Vec<Other>,
}

impl PriorityGuide {
    pub(super) fn new(moves: Vec<PriorityMove>) -> Self {
        let given = moves.len();
        Self { order: PriorityOrder::default(), moves, given, next: 0, others: Vec::new() }
    }

    /// The move that is due; after those given, the first of these, and the rest is noted.
    fn due(&mut self, moves: Vec<PriorityMove>) -> Option<PriorityMove> {
        if self.next >= self.given {
            let mut moves = moves.into_iter();
            self.moves.push(moves.next()?);
            let at = self.next;
            self.others.extend(moves.map(|instead| Other { at, instead }));
        }
        self.next += 1;
        self.moves.get(self.next - 1).copied()
    }
}

impl Guide for PriorityGuide {
    fn choose(&mut self, at: &SchedulingPoint<'_>) -> Decision {
        let agents = enabled(at);
        let mut here = PointDecisions::default();
        loop {
            let top = self.order.top(&agents);
            match self.due(moves(at, &self.order, &agents, &top, &here)) {
                Some(PriorityMove::Lower(agent)) => {
                    self.order.lower(agent);
                    here.passed.extend(top.into_iter().filter(|&other| other < agent));
                    here.lowered.push(agent);
                }
                Some(PriorityMove::Run(choice)) if top.contains(&choice.agent) => {
                    return go(&mut self.order, at, &agents, choice);
                }
                _ => return Decision::Prune,
            }
        }
    }

    fn pass(&mut self, _at: &SchedulingPoint<'_>) {}

    fn notes(self: Box<Self>) -> Notes {
        Notes::default()
    }
}

/// The decisions at one point so far.
#[derive(Default)]
struct PointDecisions {
    lowered: Vec<Agent>,
    /// Could have been lowered before one that was: then it is the other order that stands for both.
    passed: Vec<Agent>,
}

/// Everything that can be decided at a point. A change point makes a difference only where its agent would go and another one
/// goes instead: earlier ones can wait until then, and an agent that was lowered here does not go here.
fn moves(
    at: &SchedulingPoint<'_>,
    order: &PriorityOrder,
    agents: &[Agent],
    top: &[Agent],
    here: &PointDecisions,
) -> Vec<PriorityMove> {
    let PointDecisions { lowered, passed } = here;
    let goes =
        at.choices.iter().filter(|choice| top.contains(&choice.agent) && !lowered.contains(&choice.agent));
    let mut moves: Vec<PriorityMove> = goes.map(|&choice| PriorityMove::Run(choice)).collect();
    let others_left = agents.iter().filter(|agent| !lowered.contains(agent)).count() > 1;
    if others_left {
        let is_new = |agent: &Agent| !lowered.contains(agent) && !passed.contains(agent);
        let lower = top.iter().copied().filter(|agent| order.can_be_lowered(*agent) && is_new(agent));
        moves.extend(lower.map(PriorityMove::Lower));
    }
    moves
}

/// Lets an agent go, above all that could go as well.
fn go(order: &mut PriorityOrder, at: &SchedulingPoint<'_>, agents: &[Agent], choice: Choice) -> Decision {
    order.put_first(choice.agent, agents);
    if at.agents.agent(choice.agent).is_some_and(AgentView::gives_way) {
        order.sink(choice.agent);
    }
    one(Some(choice))
}

fn enabled(at: &SchedulingPoint<'_>) -> Vec<Agent> {
    let mut agents: Vec<Agent> = at.choices.iter().map(|choice| choice.agent).collect();
    agents.dedup();
    agents
}

/// Runs a recorded schedule by strict priority, with as few change points as it takes to let each agent go when it went;
/// after its end, by priority alone.
pub(super) struct PriorityReplay<'a> {
    steps: &'a [TraceStep],
    order: PriorityOrder,
    pub(super) changes: u32,
}

impl<'a> PriorityReplay<'a> {
    pub(super) fn new(steps: &'a [TraceStep]) -> Self {
        Self { steps, order: PriorityOrder::default(), changes: 0 }
    }
}

impl Guide for PriorityReplay<'_> {
    fn choose(&mut self, at: &SchedulingPoint<'_>) -> Decision {
        let agents = enabled(at);
        let recorded = self.steps.get(at.position().count()).and_then(|step| {
            let choice = step.choice;
            way(at, choice.agent, Some(choice.outcome))
        });
        // An agent that has given way stays below all others, however far these are lowered.
        if let Some(choice) = recorded.filter(|choice| self.order.can_be_lowered(choice.agent)) {
            self.changes += self.order.raise(choice.agent, &agents);
        }
        if let Some(choice) = recorded
            && self.order.top(&agents).contains(&choice.agent)
        {
            return go(&mut self.order, at, &agents, choice);
        }
        let first = self.order.top(&agents).first().and_then(|&agent| way(at, agent, None));
        first.map_or(Decision::Prune, |choice| go(&mut self.order, at, &agents, choice))
    }

    fn pass(&mut self, _at: &SchedulingPoint<'_>) {}

    fn notes(self: Box<Self>) -> Notes {
        Notes::default()
    }
}
