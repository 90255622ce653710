//! A guide that ends long executions.

use super::{Decision, Guide, Notes};
use crate::program::Scope;
use crate::state::scheduling_point::SchedulingPoint;
use crate::trace::Trace;

/// Another guide, whose executions end after so many events: the planner takes from the length that one was cut.
pub(super) struct Brief<'a> {
    guide: Box<dyn Guide + 'a>,
    longest: usize,
}

impl<'a> Brief<'a> {
    pub(super) fn new(guide: Box<dyn Guide + 'a>, longest: usize) -> Self {
        Self { guide, longest }
    }
}

impl Guide for Brief<'_> {
    fn scope(&self) -> Scope {
        self.guide.scope()
    }

    fn choose(&mut self, at: &SchedulingPoint<'_>) -> Decision {
        if at.trace.steps.len() >= self.longest { Decision::Prune } else { self.guide.choose(at) }
    }

    fn pass(&mut self, at: &SchedulingPoint<'_>) {
        self.guide.pass(at);
    }

    fn goes_on(&self) -> bool {
        self.guide.goes_on()
    }

    fn ended(&mut self, run: &Trace, limit_reached: bool) {
        self.guide.ended(run, limit_reached);
    }

    fn notes(self: Box<Self>) -> Notes {
        self.guide.notes()
    }
}
