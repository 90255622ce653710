//! Where in the user's own code the events of a trace are. An instruction in a library says little by itself: its place is
//! the caller in the user's code, which one more execution of the same schedule shows.

use checker::seam::{Execution, OpKey, Program, Scope, Stop, Until};
use checker::trace::Trace;

use crate::places::Places;
use crate::report::Location;

/// Longer traces are not run again for this: nobody reads that many lines.
const MAX_EVENTS: usize = 20_000;

/// The place of every event. Where the schedule does not come out any more, an event's place is its instruction's.
pub(crate) fn places_of_events<P: Program>(program: &P, trace: &Trace, places: &Places<'_>) -> Vec<Location> {
    let mut found: Vec<Location> = trace.steps.iter().map(|step| places.of_site(step.event.site)).collect();
    let all_own = || trace.steps.iter().all(|step| places.is_own_site(step.event.site));
    if found.len() > MAX_EVENTS || all_own() {
        return found;
    }
    if let Ok(mut run) = program.start(&Scope::All) {
        follow(&mut run, trace, places, &mut found);
        run.finish();
    }
    found
}

fn follow(run: &mut impl Execution, trace: &Trace, places: &Places<'_>, found: &mut [Location]) {
    for (step, place) in trace.steps.iter().zip(found) {
        let (choice, OpKey { kind, site }) = step.replayed();
        let view = run.agents().iter().find(|view| view.agent == choice.agent);
        if view.is_none_or(|view| view.site != site || view.pending.as_ref().is_none_or(|op| op.kind != kind))
        {
            return;
        }
        *place = places.of_pending(run, choice.agent.thread(), site);
        if !run.run(choice, &Until::one()).is_ok_and(|batch| batch.stop != Stop::Promoted) {
            return;
        }
    }
}
