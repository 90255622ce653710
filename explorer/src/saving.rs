//! From a failing execution to the file that replays it.

use std::collections::{BTreeSet, HashMap};

use checker::names::{Obj, Site};
use checker::op::{Op, OpKind};
use checker::seam::{Choice, OpKey};
use checker::search;
use checker::trace::{Trace, TraceStep};

use crate::places::Places;
use crate::report::{EventLine, Finding};
use crate::schedule_file::{
    FORMAT, FoundBy, KeyPoints, SavedChoice, SavedFailure, SavedTarget, ScheduleFile, VERSION,
};

/// The file for a finding. `told` is the same finding as the report tells it.
pub(crate) fn schedule_file(
    found: &search::Finding,
    told: &Finding,
    target: &SavedTarget,
    (strategy, seed): (&str, u64),
    places: &Places<'_>,
) -> ScheduleFile {
    let choices = found.trace.schedule();
    // The last choice has no step if it never came to an end; what a harness does is not told.
    let told_events: HashMap<u32, &EventLine> = told.events.iter().map(|line| (line.number, line)).collect();
    let step = |at: u32| (found.trace.steps.get(at as usize), told_events.get(&at).copied());
    ScheduleFile {
        format: FORMAT.to_owned(),
        version: VERSION,
        tool: env!("CARGO_PKG_VERSION").to_owned(),
        target: target.clone(),
        found_by: FoundBy {
            strategy: strategy.to_owned(),
            seed,
            schedule_number: found.schedule_number,
            epoch: found.epoch,
            key_points: key_points(&found.trace),
        },
        failure: SavedFailure {
            kind: found.failure.kind,
            message: told.message.clone(),
            at: told.parties.iter().map(party_words).collect(),
            place: told.thread.is_some().then(|| told.place.clone()),
            preemptions: found.preemptions,
            fewest: found.fewest,
            delays: found.delays,
            minimised: false,
        },
        passes: None,
        choices: choices.iter().zip(0..).map(|(choice, at)| saved_choice(choice, step(at), places)).collect(),
    }
}

/// Where the schedule of the finding of this name is kept.
pub(crate) fn file_name(id: &str) -> String {
    format!("schedules/{id}.json")
}

/// Where the schedule is kept that ends well, next to that of the finding of this name.
pub(crate) fn passing_name(id: &str) -> String {
    format!("schedules/{id}.passing.json")
}

/// Where the schedule is kept in which it was found, if a simpler one has taken its place.
pub(crate) fn original_name(id: &str) -> String {
    format!("schedules/{id}.original.json")
}

fn party_words(party: &crate::report::Party) -> String {
    let place = party.stack.first().map(|place| format!(": {}", place.words())).unwrap_or_default();
    format!("{} {}{place}", party.thread, party.doing)
}

fn saved_choice(
    (choice, key): &(Choice, OpKey),
    (step, line): (Option<&TraceStep>, Option<&EventLine>),
    places: &Places<'_>,
) -> SavedChoice {
    let object = step.and_then(|step| step.event.op.may.accesses.first());
    SavedChoice {
        thread: choice.agent.thread(),
        operation: key.kind,
        object: object.and_then(|access| places.source().describe(access.obj)),
        at: line.map_or_else(|| places.of_site(key.site), |line| line.place.clone()).words(),
        site: key.site,
        actor: SavedChoice::actor(choice.agent),
        pick: choice.pick,
    }
}

/// What must be a key point for the trace to come out as it did: the instructions that touched shared memory in it, that
/// memory, and what stands for the blocks that were freed. Key points that the execution never came to make no difference to
/// it.
pub(crate) fn key_points(trace: &Trace) -> KeyPoints {
    let accesses = || trace.steps.iter().filter(|step| is_made_by_instruction(&step.event.op));
    let instructions: BTreeSet<Site> = accesses().map(|step| step.event.site).collect();
    let touched = accesses().flat_map(|step| &step.event.op.may.accesses).map(|access| access.obj);
    let frees = trace.steps.iter().filter(|step| step.event.op.kind == OpKind::Free);
    let freed = frees.flat_map(|step| &step.event.op.may.accesses).map(|access| access.obj.name.release());
    let memory: BTreeSet<Obj> = touched.chain(freed).collect();
    KeyPoints { instructions: instructions.into_iter().collect(), memory: memory.into_iter().collect() }
}

/// Whether it is an access of memory, be it one that takes or releases a lock (a Rust mutex): that is as many bytes as
/// the access, where the lock of a function is one.
fn is_made_by_instruction(op: &Op) -> bool {
    let is_wide = || op.may.accesses.iter().any(|access| access.obj.len > 1);
    op.kind.is_access() || matches!(op.kind, OpKind::Lock | OpKind::Unlock) && is_wide()
}
