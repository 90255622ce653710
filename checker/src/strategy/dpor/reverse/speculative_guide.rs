//! The guide of an execution that is run ahead of its turn: what it leads to is worked out on the worker that runs it.

use std::sync::{Arc, RwLock};

use super::expansion::Expansion;
use super::frame::ReversalTask;
use super::guide::ReversalGuide;
use super::outcome_table::OutcomeTable;
use crate::limit::Limit;
use crate::program::Scope;
use crate::state::scheduling_point::SchedulingPoint;
use crate::strategy::dpor::planned::length;
use crate::strategy::{Decision, Guide, Notes};
use crate::trace::Trace;

/// Takes one execution through a reversal ahead of its turn, and tells what it leads to.
pub(super) struct SpeculativeGuide {
    follower: ReversalGuide,
    task: Option<ReversalTask>,
    known: Arc<RwLock<OutcomeTable>>,
    max: Option<u32>,
    limit: Limit,
    expansion: Option<Box<Expansion>>,
}

impl SpeculativeGuide {
    pub(super) fn new(
        follower: ReversalGuide,
        task: ReversalTask,
        known: &Arc<RwLock<OutcomeTable>>,
        (max, limit): (Option<u32>, &Limit),
    ) -> Self {
        let (known, limit) = (Arc::clone(known), limit.clone());
        Self { follower, task: Some(task), known, max, limit, expansion: None }
    }
}

impl Guide for SpeculativeGuide {
    /// A claim that every schedule was run rests on each of them.
    fn scope(&self) -> Scope {
        Scope::Audit
    }

    fn choose(&mut self, at: &SchedulingPoint<'_>) -> Decision {
        self.follower.choose(at)
    }

    fn pass(&mut self, at: &SchedulingPoint<'_>) {
        self.follower.pass(at);
    }

    fn ended(&mut self, run: &Trace, limit_reached: bool) {
        let Notes { infeasible, given_up, .. } = *self.follower.noted();
        if let Some(task) = self.task.take_if(|_| !infeasible) {
            let expansion = Expansion::of(
                task,
                run,
                length(limit_reached),
                given_up,
                &self.known,
                (self.max, &self.limit),
            );
            self.expansion = Some(Box::new(expansion));
        }
    }

    fn notes(self: Box<Self>) -> Notes {
        let Self { follower, expansion, .. } = *self;
        Notes { expansion, ..Box::new(follower).notes() }
    }
}
