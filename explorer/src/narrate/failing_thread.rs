//! Which of the threads that take part in a failure stands at the failing line.

use checker::failure::{Doing, Failure, FailureKind, Party};
use checker::names::ThreadName;
use checker::program::On;
use checker::trace::Trace;

/// The thread that failed. Where several have a part in it: of those that wait for each other the one that closed the
/// circle, in a livelock one that spins, else the first that does not only wait for the end of others.
pub(crate) fn thread(failure: &Failure, trace: &Trace) -> Option<ThreadName> {
    let others = &failure.others;
    let spins = |party: &&Party| failure.kind == FailureKind::Livelock && keeps_running(party);
    let waits_for_more = |party: &&Party| !matches!(party.doing, Doing::Waits(On::Join(_)));
    let name = |party: &Party| party.thread;
    failure
        .thread
        .or_else(|| others.iter().find(spins).map(name))
        .or_else(|| closes_circle(others, trace))
        .or_else(|| others.iter().find(waits_for_more).or(others.first()).map(name))
}

/// Whether a thread of a livelock is not blocked.
fn keeps_running(party: &Party) -> bool {
    matches!(party.doing, Doing::Waits(On::Await(_)) | Doing::Yields | Doing::YieldsForever)
}

/// The thread with whose last step everybody in a circle waits for another one in it.
fn closes_circle(parties: &[Party], trace: &Trace) -> Option<ThreadName> {
    let members = parties.iter().find_map(|start| circle(parties, start))?;
    let last_step =
        |party: &&Party| trace.steps.iter().rposition(|step| step.event.id.thread == party.thread);
    members.into_iter().max_by_key(last_step).map(|party| party.thread)
}

/// Who is waited for from a thread on, if that leads back to it.
fn circle<'a>(parties: &'a [Party], start: &'a Party) -> Option<Vec<&'a Party>> {
    let mut path = vec![start];
    loop {
        let next = waits_for(parties, path.last()?)?;
        if next.thread == start.thread {
            return Some(path);
        }
        if path.iter().any(|party| party.thread == next.thread) {
            return None;
        }
        path.push(next);
    }
}

fn waits_for<'a>(parties: &'a [Party], waiting: &Party) -> Option<&'a Party> {
    let Doing::Waits(on) = &waiting.doing else { return None };
    let thread = on.thread()?;
    parties.iter().find(|party| party.thread == thread)
}
