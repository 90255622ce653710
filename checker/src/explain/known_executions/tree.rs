//! The tree of the executions that have run.

use crate::event::agent::{AgentView, Choice};
use crate::event::names::{Site, ThreadName};
use crate::event::step::{Event, Step};
use crate::program::{Epoch, ExecutionSummary, Stop};

/// So many events are kept, some 1,300 bytes each; and so many of one execution, of which there are few that are longer.
const MOST: usize = 30_000;
pub(super) const LONGEST: usize = 1_000;

/// Everything that is known, with the key points of one epoch.
#[derive(Default)]
pub(in crate::explain) struct ExecutionTree {
    pub(super) epoch: Epoch,
    /// The agents before the first event.
    pub(super) agents: Vec<AgentView>,
    /// The first one is the beginning; none, where nothing has run yet.
    pub(super) nodes: Vec<Node>,
    /// The number of executions that were told without a start.
    pub(super) recalled: u64,
}

/// The state after some events, as far as an explanation needs it.
#[derive(Default)]
pub(super) struct Node {
    next: Vec<Edge>,
    /// The ending of an execution that went no further.
    pub(super) summary: Option<Box<ExecutionSummary>>,
    /// The stacks that were asked for at that end.
    pub(super) stacks: Vec<(ThreadName, Vec<Site>)>,
}

/// One event, and what it changed.
pub(super) struct Edge {
    pub(super) choice: Choice,
    event: Event,
    changed: Box<[AgentView]>,
    process_ended: bool,
    pub(super) stop: Stop,
    pub(super) to: usize,
}

impl Edge {
    fn new(choice: Choice, step: &Step, stop: Stop, to: usize) -> Self {
        let Step { event, changed, process_ended } = step.clone();
        Self { choice, event, changed: changed.into_vec().into(), process_ended, stop, to }
    }

    pub(super) fn step(&self) -> Step {
        let Self { event, changed, process_ended, .. } = self;
        Step {
            event: event.clone(),
            changed: changed.iter().cloned().collect(),
            process_ended: *process_ended,
        }
    }
}

impl ExecutionTree {
    /// The event of a choice at a place, where that has run.
    pub(super) fn edge(&self, at: usize, choice: Choice) -> Option<&Edge> {
        self.nodes[at].next.iter().find(|edge| edge.choice == choice)
    }

    /// Takes in an event, if there is room. Returns the place behind it.
    pub(super) fn add(&mut self, at: usize, choice: Choice, (step, stop): (&Step, Stop)) -> Option<usize> {
        if let Some(known) = self.edge(at, choice) {
            return Some(known.to);
        }
        let to = self.nodes.len();
        if to > MOST {
            return None;
        }
        self.nodes[at].next.push(Edge::new(choice, step, stop, to));
        self.nodes.push(Node::default());
        Some(to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_takes_as_much_memory_as_its_limit_supposes() {
        let changed = 2 * size_of::<AgentView>();
        let size = size_of::<Edge>() + changed + size_of::<Node>();
        assert!(size <= 1_300, "{size}");
    }
}
