//! The thread that stands at the failing line, of those that take part in a failure.

use checker::failure::{Doing, Failure, FailureKind, Party};
use checker::names::ThreadName;
use checker::program::BlockedOn;
use checker::state::wait_for_graph::WaitForGraph;
use checker::trace::Trace;

/// The thread that failed. Where several have a part in it: of those that wait for each other the one that closed the
/// circle, in a livelock one that spins, else the first that does not only wait for the end of others.
pub(crate) fn thread(failure: &Failure, trace: &Trace) -> Option<ThreadName> {
    let others = &failure.others;
    let spins = |party: &&Party| failure.kind == FailureKind::Livelock && keeps_running(party);
    let waits_for_more = |party: &&Party| !matches!(party.doing, Doing::Waits(BlockedOn::Join(_)));
    let name = |party: &Party| party.thread;
    failure
        .thread
        .or_else(|| others.iter().find(spins).map(name))
        .or_else(|| closes_circle(others, trace))
        .or_else(|| others.iter().find(waits_for_more).or(others.first()).map(name))
}

/// Whether a thread of a livelock is not blocked.
fn keeps_running(party: &Party) -> bool {
    matches!(party.doing, Doing::Waits(BlockedOn::Await(_)) | Doing::Yields | Doing::YieldsForever)
}

/// The thread whose last step closes a circle: since then every thread in it waits for another one in it.
fn closes_circle(parties: &[Party], trace: &Trace) -> Option<ThreadName> {
    let edges = parties.iter().filter_map(|party| match &party.doing {
        Doing::Waits(on) => Some((party.thread, on.thread()?, party.thread)),
        _ => None,
    });
    let last_step =
        |thread: &ThreadName| trace.steps.iter().rposition(|step| step.event.id.thread == *thread);
    WaitForGraph::of(edges).cycle()?.into_iter().max_by_key(last_step)
}
