//! From a failing execution to the file that replays it.

use std::collections::BTreeSet;

use checker::names::{Obj, Site};
use checker::operation::{Op, OpKind};
use checker::search;
use checker::trace::{Trace, TraceStep};
use ptrace_backend::attention;

use crate::narrate::locations::Places;
use crate::narrate::sentences::objects;
use crate::program::source::Source;
use crate::report::{EventLine, Finding, Party};
use crate::schedule_file::{
    FORMAT, FoundBy, KeyPoints, SavedChoice, SavedFailure, SavedParty, SavedTarget, ScheduleFile, VERSION,
};

/// The file for a finding. `told` is the same finding as the report tells it.
pub(crate) fn schedule_file(
    found: &search::Finding,
    told: &Finding,
    target: &SavedTarget,
    (strategy, seed): (&str, u64),
    places: &Places<'_>,
) -> ScheduleFile {
    // The operations of a harness are not told.
    let line = |at: u32| {
        let known = told.events.binary_search_by_key(&at, |line| line.number).ok()?;
        Some(&told.events[known])
    };
    let steps = found.trace.steps.iter().zip(0..).inspect(|_| attention::look());
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
            key_points: KeyPoints {
                unordered_only: places.source().unordered_only(),
                ..key_points(&found.trace, places.source())
            },
        },
        failure: SavedFailure {
            kind: found.failure.kind,
            message: told.message.clone(),
            at: told.parties.iter().map(party_words).collect(),
            parties: told.parties.iter().map(saved_party).collect(),
            place: told.thread.is_some().then(|| told.place.clone()),
            tried: told.tried,
            preemptions: found.preemptions,
            fewest: found.fewest,
            delays: found.delays,
            minimised: false,
        },
        passes: None,
        seal: None,
        choices: steps.map(|(step, at)| saved_choice(step, line(at), places)).collect(),
    }
}

fn saved_party(party: &Party) -> SavedParty {
    SavedParty { thread: party.thread.clone(), place: party.stack.first().cloned().unwrap_or_default() }
}

fn party_words(party: &Party) -> String {
    let place = party.stack.first().map(|place| format!(": {}", place.words())).unwrap_or_default();
    format!("{} {}{place}", party.thread, party.doing)
}

fn saved_choice(step: &TraceStep, line: Option<&EventLine>, places: &Places<'_>) -> SavedChoice {
    let (choice, key) = step.replayed();
    let object = step.event.op.may.accesses.first();
    let object =
        object.and_then(|access| places.source().describe(access.obj)).map(|object| objects::words(&object));
    let at = line.map_or_else(|| places.of_site(key.site).words(), |line| line.place.words());
    SavedChoice {
        thread: choice.agent.thread(),
        operation: key.kind,
        object: object.map(Into::into),
        at: at.into(),
        site: key.site,
        actor: SavedChoice::actor(choice.agent),
        outcome: choice.outcome,
    }
}

/// The accesses that must be key points for the trace to come out as it did: the instructions that touched shared memory in
/// it, that memory, what system calls and functions of libraries touched, be it no memory (the numbers of file
/// descriptors), and what stands for the blocks that were freed. Key points that the execution never came to make no
/// difference to it. A call touches more than threads share: of that, other instructions were none that are key points.
pub(crate) fn key_points(trace: &Trace, source: &dyn Source) -> KeyPoints {
    let accesses = || trace.steps.iter().filter(|step| is_made_by_instruction(&step.event.op));
    let instructions: BTreeSet<Site> = accesses().map(|step| step.event.site).collect();
    let is_freed = |step: &&TraceStep| step.event.op.kind == OpKind::Free;
    // An object of synchronisation, which is one byte, is a key point without that.
    let is_needed = |op: &Op, obj: Obj| op.kind == OpKind::Io || is_made_by_instruction(op) || obj.len > 1;
    let shared_parts = |obj: Obj| {
        let parts = source.shared_parts(obj);
        if parts.is_empty() { vec![obj] } else { parts }
    };
    let objects = |step: &'_ TraceStep| {
        let op = &step.event.op;
        let objects = op.may.accesses.iter().map(|access| access.obj);
        objects.filter(|&obj| is_needed(op, obj)).flat_map(shared_parts).collect::<Vec<_>>()
    };
    let touched = trace.steps.iter().filter(|step| !is_freed(step)).flat_map(objects);
    let frees = trace.steps.iter().filter(is_freed);
    let freed = frees.flat_map(|step| &step.event.op.may.accesses).map(|access| access.obj.name.release());
    let memory: BTreeSet<Obj> = touched.chain(freed).collect();
    KeyPoints {
        instructions: instructions.into_iter().collect(),
        memory: memory.into_iter().collect(),
        unordered_only: false,
    }
}

/// Whether it is an access of memory, be it one that takes or releases a lock (a Rust mutex): that is as many bytes as
/// the access, where the lock of a function is one.
fn is_made_by_instruction(op: &Op) -> bool {
    let is_wide = || op.may.accesses.iter().any(|access| access.obj.len > 1);
    op.kind.is_access() || matches!(op.kind, OpKind::Lock | OpKind::Unlock) && is_wide()
}
