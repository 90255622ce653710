//! The guide of an execution that is run ahead of its turn: what it leads to is worked out on the worker that runs it.

use std::sync::{Arc, RwLock};

use super::frame::ReversalTask;
use super::guide::ReversalGuide;
use super::known::Known;
use super::offspring::Offspring;
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
    known: Arc<RwLock<Known>>,
    max: Option<u32>,
    limit: Limit,
    offspring: Option<Box<Offspring>>,
}

impl SpeculativeGuide {
    pub(super) fn new(
        follower: ReversalGuide,
        task: ReversalTask,
        known: &Arc<RwLock<Known>>,
        (max, limit): (Option<u32>, &Limit),
    ) -> Self {
        let (known, limit) = (Arc::clone(known), limit.clone());
        Self { follower, task: Some(task), known, max, limit, offspring: None }
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

    fn ended(&mut self, run: &Trace, endless: bool) {
        let Notes { refused, given_up, .. } = *self.follower.noted();
        if let Some(task) = self.task.take_if(|_| !refused) {
            let offspring =
                Offspring::of(task, run, length(endless), given_up, &self.known, (self.max, &self.limit));
            self.offspring = Some(Box::new(offspring));
        }
    }

    fn notes(self: Box<Self>) -> Notes {
        let Self { follower, offspring, .. } = *self;
        Notes { offspring, ..Box::new(follower).notes() }
    }
}
