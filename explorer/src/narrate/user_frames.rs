//! Places in the user's own code of the events of a trace. An instruction in a library says little by itself: its place is
//! the caller in the user's code, which one more execution of the same schedule shows.

use checker::names::Site;
use checker::program::{Execution, OpKey, Program, Scope, Until};
use checker::trace::Trace;
use rustc_hash::FxHashMap;

use crate::narrate::locations::Places;
use crate::report::Location;
use crate::report::interned::Shared;

/// Longer traces are not run again for this: a report of that many lines is not read.
const MAX_EVENTS: usize = 20_000;

/// The place of every event. Where the schedule does not come out any more, an event's place is its instruction's.
pub(crate) fn places_of_events<P: Program>(
    program: &P,
    trace: &Trace,
    places: &Places<'_>,
) -> Vec<Shared<Location>> {
    let mut known: FxHashMap<Site, Shared<Location>> = FxHashMap::default();
    let sites = trace.steps.iter().map(|step| step.event.site);
    let mut place = |site| known.entry(site).or_insert_with(|| places.of_site(site).into()).clone();
    let mut found: Vec<Shared<Location>> = sites.map(&mut place).collect();
    let all_own = || known.keys().all(|&site| places.is_own_site(site));
    if found.len() > MAX_EVENTS || all_own() {
        return found;
    }
    if let Ok(mut run) = program.start(&Scope::All) {
        follow(&mut run, trace, places, &mut found);
        run.finish();
    }
    found
}

fn follow(run: &mut impl Execution, trace: &Trace, places: &Places<'_>, found: &mut [Shared<Location>]) {
    for (step, place) in trace.steps.iter().zip(found) {
        let (choice, OpKey { kind, site }) = step.replayed();
        let view = run.agents().iter().find(|view| view.agent == choice.agent);
        if view.is_none_or(|view| view.site != site || view.pending.as_ref().is_none_or(|op| op.kind != kind))
        {
            return;
        }
        *place = places.of_pending(run, choice.agent.thread(), site).into();
        // If this shows more key points, the next view is another one where that matters.
        if run.run(choice, &Until::one()).is_err() {
            return;
        }
    }
}
