//! Watches what executions have to tell about themselves: peculiarities are collected, and a test binary that does not run
//! the chosen test is not run again.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use checker::account::Unwatched;
use checker::failure::{Failure, FailureDetail};
use checker::names::{Obj, Site, ThreadName};
use checker::object_description::ObjectDescription;
use checker::peculiarity::Peculiarity;
use checker::program::{
    AgentView, BackendError, Batch, Choice, Epoch, Execution, ExecutionError, ExecutionSummary, OpKey,
    Program, Scope, StartError, Status, Until,
};
use checker::trace::Trace;
use delegate::delegate;

use crate::program::run_note_words::of_program;
use crate::program::test_output::{TestMissed, TestNotRun, missed, skipped};

/// Size of the end of the output, in bytes, in which a test framework says which tests it ran.
const LONGEST_REPORT: usize = 16 << 10;

/// Peculiarities that all executions so far have told.
#[derive(Debug, Default)]
pub(crate) struct RunNotes(Mutex<RunNotesState>);

#[derive(Debug, Default)]
struct RunNotesState {
    notes: BTreeSet<Peculiarity>,
    /// The reason for which the chosen test did not run, or did not run alone.
    missed: Option<TestNotRun>,
    started: u64,
    /// The account's entries, each with its number of executions.
    unwatched: BTreeMap<Unwatched, u64>,
    pace: ExecutionCosts,
}

/// The cost of executions, those of workers left out.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ExecutionCosts {
    pub(crate) executions: u64,
    /// Of all but the last one.
    before: Cost,
    /// Of the last one, which a limit may have cut short.
    pub(crate) last: Cost,
}

/// Wall time and events.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Cost {
    pub(crate) time: Duration,
    pub(crate) events: u64,
}

impl ExecutionCosts {
    pub(crate) fn note(&mut self, cost: Cost) {
        self.before.time += self.last.time;
        self.before.events += self.last.events;
        self.last = cost;
        self.executions += 1;
    }

    /// The cost of an execution on average, the last one left out; `None` where there is no other one.
    pub(crate) fn each(&self) -> Option<Cost> {
        let executions = self.executions.checked_sub(1).filter(|&count| count > 0)?;
        let time = self.before.time.div_f64(executions as f64);
        Some(Cost { time, events: self.before.events / executions })
    }
}

impl RunNotes {
    /// A sentence for each, in the order of the alphabet.
    pub(crate) fn notes(&self) -> Vec<String> {
        let mut notes: Vec<String> = self.told().notes.iter().copied().map(of_program).collect();
        notes.sort_unstable();
        notes
    }

    /// The account's entries, each with its number of executions.
    pub(crate) fn unwatched(&self) -> BTreeMap<Unwatched, u64> {
        self.told().unwatched.clone()
    }

    /// Number of executions that were started, whatever for.
    pub(crate) fn executions(&self) -> u64 {
        self.told().started
    }

    /// The cost of executions so far.
    pub(crate) fn pace(&self) -> ExecutionCosts {
        self.told().pace
    }

    /// Counts one more execution, which was run elsewhere and ended so.
    pub(crate) fn take_in(&self, summary: &ExecutionSummary, is_one_test: bool) {
        self.told().started += 1;
        self.add(summary, is_one_test);
    }

    fn told(&self) -> MutexGuard<'_, RunNotesState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, summary: &ExecutionSummary, is_one_test: bool) {
        let mut told = self.told();
        let end = summary.stdout.len().saturating_sub(LONGEST_REPORT);
        told.missed = told.missed.or_else(|| missed(&summary.stdout[end..], is_one_test));
        told.notes.extend(&summary.notes);
        for unwatched in &summary.unwatched {
            *told.unwatched.entry(unwatched.clone()).or_default() += 1;
        }
    }
}

/// A program whose executions tell about themselves in one place.
pub(crate) struct Observed<'a, P> {
    program: &'a P,
    arguments: String,
    is_one_test: bool,
    told: &'a RunNotes,
}

/// An execution of it.
pub(crate) struct ObservedRun<'a, R> {
    run: R,
    is_one_test: bool,
    told: &'a RunNotes,
    began: Instant,
    events: u64,
}

impl<'a, P> Observed<'a, P> {
    /// `arguments` are those of the program, for a sentence; `is_one_test`: they select one test.
    pub(crate) fn new(program: &'a P, arguments: String, is_one_test: bool, told: &'a RunNotes) -> Self {
        Self { program, arguments, is_one_test, told }
    }

    /// The account's entries so far, each with its number of executions.
    pub(crate) fn unwatched(&self) -> BTreeMap<Unwatched, u64> {
        self.told.unwatched()
    }

    /// The reason for which no result of the executions counts: in one of them the test did not run, or did not run alone.
    pub(crate) fn missed_its_test(&self) -> Option<StartError> {
        let reason = self.told.told().missed?;
        let missed = TestMissed { reason, arguments: self.arguments.clone() };
        Some(BackendError::new(missed).into())
    }
}

impl<'a, P: Program> Program for Observed<'a, P> {
    type Run = ObservedRun<'a, P::Run>;

    fn start(&self, scope: &Scope) -> Result<Self::Run, StartError> {
        if let Some(error) = self.missed_its_test() {
            return Err(error);
        }
        let began = Instant::now();
        let broken_off =
            |_: &StartError| self.told.told().pace.note(Cost { time: began.elapsed(), events: 0 });
        let run = self.program.start(scope).inspect_err(broken_off)?;
        self.told.told().started += 1;
        Ok(ObservedRun { run, is_one_test: self.is_one_test, told: self.told, began, events: 0 })
    }

    delegate! {
        to self.program {
            fn epoch(&self) -> Epoch;
            fn describe(&self, obj: Obj) -> Option<ObjectDescription>;
            fn is_reference_count(&self, obj: Obj) -> bool;
            fn needs_audit(&self, trace: &Trace) -> bool;
        }
    }

    fn attribute(&self, failure: &mut Failure, trace: &Trace, summary: &ExecutionSummary) -> u64 {
        let executions = self.program.attribute(failure, trace, summary);
        self.told.told().started += executions;
        executions
    }
}

impl<R: Execution> Execution for ObservedRun<'_, R> {
    delegate! {
        to self.run {
            fn agents(&self) -> &[AgentView];
            fn stack(&mut self, thread: ThreadName) -> Vec<Site>;
        }
    }

    fn run(&mut self, choice: Choice, until: &Until) -> Result<Batch, ExecutionError> {
        let batch = self.run.run(choice, until)?;
        self.events += batch.steps.len() as u64;
        Ok(batch)
    }

    fn replay(&mut self, steps: &[(Choice, OpKey)]) -> Result<Batch, ExecutionError> {
        let batch = self.run.replay(steps)?;
        self.events += batch.steps.len() as u64;
        Ok(batch)
    }

    fn finish(self) -> ExecutionSummary {
        let cost = Cost { time: self.began.elapsed(), events: self.events };
        let code = self.run.agents().iter().find_map(|view| exit_code(&view.status));
        let summary = self.run.finish();
        self.told.add(&summary, self.is_one_test);
        let mut told = self.told.told();
        told.pace.note(cost);
        if let Some(code) = code.filter(|_| told.started == 1) {
            // The first execution, in which threads run in turn: in another order the same code may be a failure.
            told.missed = told.missed.or_else(|| skipped(code, &summary.stdout));
        }
        drop(told);
        summary
    }
}

/// The exit code with which a program has failed.
fn exit_code(status: &Status) -> Option<i32> {
    match status {
        Status::Failed(failure) => match failure.detail {
            FailureDetail::ExitCode(code) => Some(code),
            _ => None,
        },
        _ => None,
    }
}
