//! The stacks of threads at events of an execution, which one more execution of the same schedule shows.

use std::collections::BTreeMap;

use checker::account::HiddenAccess;
use checker::limit::Limit;
use checker::names::Site;
use checker::position::Position;
use checker::program::{Execution, Program, Scope, Stop};
use checker::trace::{Trace, TraceStep};

use crate::narrate::locations::Places;
use crate::report::Location;

/// So many events are run at a time: each is returned with all that it changed.
const AT_ONCE: usize = 1_024;

/// The stack before each event that was asked for.
#[derive(Debug, Default)]
pub(crate) struct Stacks {
    stacks: BTreeMap<Position, Vec<Site>>,
    /// Accesses of libraries until the last of these events ([`checker::program::ExecutionSummary::hidden`]).
    pub(crate) hidden: Option<Vec<HiddenAccess>>,
}

impl Stacks {
    /// Runs an execution again, as far as these events. Where it does not come out again, or not in time, what is known by then
    /// has to do.
    pub(crate) fn of(
        program: &impl Program,
        trace: &Trace,
        mut events: Vec<Position>,
        limit: &Limit,
    ) -> Self {
        events.sort_unstable();
        events.dedup();
        let mut found = Self::default();
        if events.is_empty() || limit.is_over() {
            return found;
        }
        let Ok(mut run) = program.start(&Scope::Hidden) else { return found };
        let mut ran = Position::START;
        let mut is_whole = true;
        for event in events {
            let came_out = trace.steps[ran..event].chunks(AT_ONCE).all(|part| {
                let steps: Vec<_> = part.iter().map(TraceStep::replayed).collect();
                !limit.is_over() && run.replay(&steps).is_ok_and(|batch| batch.stop != Stop::Promoted)
            });
            if !came_out {
                is_whole = false;
                break;
            }
            ran = event;
            found.stacks.insert(event, run.stack(trace.steps[ran].event.id.thread));
        }
        found.hidden = run.finish().hidden.filter(|_| is_whole);
        found
    }

    /// The way of an event's thread to it, innermost first: the frames of the user's own code. `site` is the event's, for
    /// where more is not known.
    pub(crate) fn told(&self, event: Position, site: Site, places: &Places<'_>) -> Vec<Location> {
        match self.stacks.get(&event).filter(|stack| !stack.is_empty()) {
            Some(stack) => places.of_stack(stack),
            None => places.of_stack(&[site]),
        }
    }
}
