//! Narration of a failure: turns a finding of the checker into that of a report.

use checker::failure::{Doing, Failure, FailureDetail, FailureKind, Line};
use checker::operation::OpKind;
use checker::program::ExecutionSummary;
use checker::search;
use checker::trace::Trace;

use crate::narrate::event_lines::EventLines;
use crate::narrate::failing_thread;
use crate::narrate::locations::Places;
use crate::narrate::sentences::phrasing::Phrasing;
use crate::narrate::thread_labels::ThreadLabels;
use crate::program::source::Frame;
use crate::program::test_output::{self, failed_expectation, thrown_by_test};
use crate::report::interned::Shared;
use crate::report::{Finding, Hint, Location, Output, Party, Role, StallOf};
use crate::say::sentence;

/// A failing execution, as a search or a replay saw it.
pub(crate) struct Failing<'a> {
    /// The place of every event.
    pub(crate) at: &'a [Shared<Location>],
    pub(crate) failure: &'a Failure,
    pub(crate) trace: &'a Trace,
    pub(crate) summary: &'a ExecutionSummary,
    /// Gives the frame that stands for the failing line where no frame is the user's own.
    pub(crate) instead: &'a dyn Fn() -> Option<Frame>,
}

impl<'a> Failing<'a> {
    pub(crate) fn found(
        found: &'a search::Finding,
        at: &'a [Shared<Location>],
        instead: &'a dyn Fn() -> Option<Frame>,
    ) -> Self {
        Self { at, failure: &found.failure, trace: &found.trace, summary: &found.summary, instead }
    }
}

/// Measurements of a failing schedule.
#[derive(Clone, Debug, Default)]
pub(crate) struct Measured {
    pub(crate) schedule_number: u64,
    pub(crate) executions: u64,
    pub(crate) preemptions: Option<u32>,
    pub(crate) fewest: bool,
    pub(crate) delays: Option<u32>,
    pub(crate) threads: Option<u32>,
    pub(crate) variables: Option<u32>,
    pub(crate) reproduced: (u32, u32),
}

impl From<&search::Finding> for Measured {
    fn from(found: &search::Finding) -> Self {
        Self {
            schedule_number: found.schedule_number,
            executions: found.executions,
            preemptions: found.preemptions,
            fewest: found.fewest,
            delays: found.delays,
            threads: found.threads,
            variables: found.variables,
            reproduced: found.reproduced,
        }
    }
}

/// The report on one failing execution; where its schedule is saved is not known yet.
pub(crate) fn report(failing: &Failing<'_>, measured: &Measured, places: &Places<'_>) -> Finding {
    let event_lines = EventLines::tell(failing.trace, failing.at, Some(failing.failure), places);
    let words = Phrasing { labels: &event_lines.labels, source: places.source() };
    let parties = parties(failing.failure, (&event_lines, &words), places);
    let failed = failing.failure.thread.map(|thread| event_lines.labels.label(thread));
    let expectation = expectation(failing, places);
    let (place, message) = expectation.unwrap_or_else(|| {
        let thrown = Some(failing).filter(|failing| ended_with_code(failing.failure));
        let thrown = thrown.and_then(|failing| thrown_by_test(&failing.summary.stdout));
        let message = thrown.unwrap_or_else(|| message(failing.failure, &words));
        (place(failing, &parties, &event_lines, places), message)
    });
    Finding {
        kind: failing.failure.kind,
        message,
        headline: words.headline(failing.failure).map(sentence),
        place,
        thread: failed,
        schedule_number: measured.schedule_number,
        executions: measured.executions,
        preemptions: measured.preemptions,
        fewest: measured.fewest,
        delays: measured.delays,
        threads: measured.threads,
        variables: measured.variables,
        reproduced: format!("{}/{}", measured.reproduced.0, measured.reproduced.1),
        stall: stall(failing.trace, &event_lines.labels),
        tried: None,
        unless_stalled: false,
        hint: hint(failing),
        explanation: None,
        id: None,
        dismissed: false,
        schedule_file: None,
        parties,
        lanes: event_lines.labels.columns(),
        output: output(failing.summary),
        events: event_lines.events.into(),
        left_out: None,
    }
}

/// The thread that is stalled longest.
fn stall(trace: &Trace, labels: &ThreadLabels) -> Option<StallOf> {
    let (step, stall) = trace.stall()?;
    Some(StallOf {
        thread: labels.label(stall.thread),
        other: labels.label(step.event.id.thread),
        nanoseconds: stall.nanos,
        sleeps: step.event.op.kind == OpKind::Sleep,
    })
}

/// The failed expectation that a test framework reports: its place and its words. The exit code comes long after that.
fn expectation(failing: &Failing<'_>, places: &Places<'_>) -> Option<(Location, String)> {
    if !ended_with_code(failing.failure) {
        return None;
    }
    let failed = failed_expectation(&failing.summary.stdout)?;
    let place = places.of_named(&failed.file, failed.line)?;
    Some((place, failed.message()))
}

/// The failing line: where the thread stands that is to blame, or what stands for it.
fn place(
    failing: &Failing<'_>,
    parties: &[Party],
    event_lines: &EventLines,
    places: &Places<'_>,
) -> Location {
    let Failing { failure, trace, .. } = failing;
    let culprit = failing_thread::thread(failure, trace);
    let of_others =
        failure.others.iter().filter(|party| Some(party.thread) == culprit).map(|party| &party.stack);
    // Rust's harness has a `main` without a line of its own: the compiler says that it is in the user's first.
    let is_harness = failure.thread.is_some() && failure.thread == places.source().harness();
    let own = failure.thread.filter(|_| !is_harness).map(|_| &failure.stack);
    let own_frame = own.into_iter().chain(of_others).find_map(|stack| places.own_of_stack(stack));
    let line = || failure.line.as_ref().and_then(|line| returned_in(line, places));
    let instead = || (failing.instead)().map(|frame| places.of_frame(&frame));
    let label = culprit.map(|thread| event_lines.labels.label(thread));
    let innermost = || {
        let party = parties.iter().find(|party| Some(&party.thread) == label.as_ref())?;
        party.stack.first().cloned()
    };
    own_frame.or_else(line).or_else(instead).or_else(innermost).unwrap_or_default()
}

/// The line with which a function ended; that of an expectation is none, and may be nowhere.
fn returned_in(line: &Line, places: &Places<'_>) -> Option<Location> {
    let function = line.function.clone()?;
    let frame = Frame { function, file: Some(line.file.clone()), line: Some(line.line), column: None };
    Some(places.of_frame(&frame))
}

/// Whether the program ended by itself, with an exit code that is a failure.
pub(crate) fn ended_with_code(failure: &Failure) -> bool {
    matches!(failure.kind, FailureKind::ExitCode | FailureKind::AlwaysFails)
        && matches!(failure.detail, FailureDetail::ExitCode(_))
}

/// The reason for which a program may fail with an exit code whatever the schedule.
fn hint(failing: &Failing<'_>) -> Option<Hint> {
    let always = failing.failure.kind == FailureKind::AlwaysFails && ended_with_code(failing.failure);
    always.then(|| test_output::hint(&failing.summary.stdout, &failing.summary.stderr)).flatten()
}

/// The failure as a sentence. The program's own words stay as they are.
pub(crate) fn message(failure: &Failure, words: &Phrasing<'_>) -> String {
    match &failure.detail {
        FailureDetail::Said(said) => said.clone(),
        _ => sentence(words.failure(failure)),
    }
}

/// The parties of a failure: the thread that failed, the others that take part, and those that were preempted on the way.
fn parties(
    failure: &Failure,
    (event_lines, words): (&EventLines, &Phrasing<'_>),
    places: &Places<'_>,
) -> Vec<Party> {
    let failed = failure.thread.map(|thread| Party {
        thread: event_lines.labels.label(thread),
        role: Role::Failed,
        doing: sentence("failed".to_owned()),
        stack: places.of_stack(&failure.stack),
    });
    let others = failure.others.iter().map(|other| Party {
        thread: event_lines.labels.label(other.thread),
        role: match other.doing {
            Doing::Freed => Role::Freed,
            Doing::Allocated => Role::Allocated,
            _ => Role::TakesPart,
        },
        doing: sentence(words.doing(&other.doing)),
        stack: places.of_stack(&other.stack),
    });
    let mut parties: Vec<Party> = failed.into_iter().chain(others).collect();
    for preempted in event_lines.preempted.values() {
        if failure.others.is_empty() || !parties.iter().any(|party| party.thread == preempted.thread) {
            parties.push(preempted.clone());
        }
    }
    parties
}

fn output(summary: &ExecutionSummary) -> Output {
    Output {
        stdout: String::from_utf8_lossy(&summary.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&summary.stderr).into_owned(),
        truncated: summary.truncated,
    }
}
