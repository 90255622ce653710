//! The branch of an execution: the point at which it leaves what was run before, and the choices there.

use serde::{Deserialize, Serialize};

use super::moves::Move;
use super::reverse::OvertakenOperation;
use crate::event::agent::{Agent, AgentView, Choice, OpOutcome, Status};
use crate::event::operation::Effect;
use crate::event::position::Position;
use crate::state::scheduling_point::SchedulingPoint;

/// The task of an execution where it leaves the executions before it.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Branch {
    /// The position at which it leaves.
    pub(super) at: Position,
    /// The sleep set there: with any of these first, all has been explored, until something comes that does not commute
    /// with it.
    pub(super) sleep_set: Vec<Move>,
    /// The operations that run once the prefix has been replayed, if they can.
    pub(super) next: Option<Move>,
    /// Only what that does is to be seen.
    pub(super) probe: bool,
    /// The agent that goes then, if it can.
    pub(super) reversed_agent: Option<Agent>,
    /// The effect that it has to conflict with, to be worth going on.
    pub(super) required_conflicts: Vec<Effect>,
    /// The operation that another one was put before: nothing that is less comes there.
    pub(super) overtaken: Vec<OvertakenOperation>,
    /// Preemptions are bounded: what is let go by others comes after them.
    pub(super) bounded: bool,
}

/// All that can be chosen. Giving way is no reason to wait here: a class of executions knows nothing of turns.
pub(super) fn enabled<'a>(at: &'a SchedulingPoint<'_>) -> impl Iterator<Item = Choice> + 'a {
    let choices = |view: &'a AgentView| {
        view.outcomes.iter().map(|&outcome: &OpOutcome| Choice { agent: view.agent, outcome })
    };
    let threads = at.agents.threads().iter().filter(|view| view.status == Status::Enabled).flat_map(choices);
    threads.chain(at.choices.iter().copied().filter(|choice| !matches!(choice.agent, Agent::Thread(_))))
}
