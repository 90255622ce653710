//! The choices of a guide that draws, and its way of saying what it has chosen.

use super::rng::SeededRng;
use crate::event::agent::Agent;
use crate::program::Until;
use crate::state::scheduling_point::SchedulingPoint;
use crate::strategy::Decision;

/// The agents that can be chosen, each once.
pub(in crate::strategy) fn agents(at: &SchedulingPoint<'_>) -> impl Iterator<Item = Agent> {
    // The ways in which one agent can go stand together.
    let first = |nth: &usize| *nth == 0 || at.choices[nth - 1].agent != at.choices[*nth].agent;
    (0..at.choices.len()).filter(first).map(|nth| at.choices[nth].agent)
}

/// Lets an agent run one event, in one of the ways in which it can go, each equally likely.
pub(in crate::strategy) fn run(
    at: &SchedulingPoint<'_>,
    agent: Option<Agent>,
    rng: &mut SeededRng,
) -> Decision {
    let mut ways = at.choices.iter().filter(|choice| Some(choice.agent) == agent);
    let way = rng.below(ways.clone().count());
    ways.nth(way).map_or(Decision::Prune, |&choice| Decision::Run { choice, until: Until::one() })
}
