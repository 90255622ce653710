//! The events of an execution, and which of them were scheduled.

use std::sync::Arc;

use crate::op::Effect;
use crate::seam::Agent;
use crate::strategy::dpor::moves::Move;
use crate::trace::Trace;

/// An execution, or the beginning of one. Executions share their events.
pub(super) type Path = Vec<Arc<Placed>>;

/// An event, and how it came to be where it is.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Placed {
    pub(super) event: Move,
    pub(super) mark: Mark,
}

/// How an event came to be where it is.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Mark {
    /// By default.
    Default,
    /// It happens before something scheduled.
    Kept,
    /// It was scheduled to come before another event.
    Scheduled {
        /// Whose event that is and what it does; `None` if it is another way of the same operation.
        before: Option<(Agent, Effect)>,
        /// Any way of its operation was as good.
        open: bool,
    },
}

impl Placed {
    pub(super) fn is_default(&self) -> bool {
        self.mark == Mark::Default
    }

    pub(super) fn is_open(&self) -> bool {
        matches!(self.mark, Mark::Scheduled { open: true, .. })
    }
}

/// Takes in what an execution did at the end of its path and after it.
pub(super) fn extend(path: &mut Path, run: &Trace) {
    let last = path.pop();
    let mut mark = last.map_or(Mark::Default, |last| last.mark.clone());
    for step in &run.steps[path.len().min(run.steps.len())..] {
        path.push(Arc::new(Placed { event: Move::of(step), mark }));
        mark = Mark::Default;
    }
}
