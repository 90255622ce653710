//! Watches what executions have to tell about themselves: peculiarities are collected, and a test binary that runs no
//! test is not run again.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use checker::names::{Obj, Site, ThreadName};
use checker::seam::{
    AgentView, Batch, Choice, Ending, Epoch, Execution, ExecutionError, OpKey, Program, Scope, StartError,
    Until,
};

use crate::test_framework::that_ran_nothing;

/// More than a test framework writes that runs no test, in bytes.
const LONGEST_REPORT: usize = 16 << 10;

/// What all executions so far have told.
#[derive(Debug, Default)]
pub(crate) struct Peculiarities(Mutex<Told>);

#[derive(Debug, Default)]
struct Told {
    /// Sentences, once each.
    notes: BTreeSet<String>,
    /// The test framework that ran no test.
    idle: Option<&'static str>,
    started: u64,
}

impl Peculiarities {
    /// All sentences.
    pub(crate) fn notes(&self) -> Vec<String> {
        self.told().notes.iter().cloned().collect()
    }

    /// How many executions were started, whatever for.
    pub(crate) fn executions(&self) -> u64 {
        self.told().started
    }

    /// One more was started, by somebody else.
    pub(crate) fn count_one(&self) {
        self.told().started += 1;
    }

    fn told(&self) -> MutexGuard<'_, Told> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, ending: &Ending) {
        let mut told = self.told();
        // Who says that nothing ran says little else.
        if told.idle.is_none() && ending.stdout.len() <= LONGEST_REPORT {
            told.idle = that_ran_nothing(&ending.stdout);
        }
        told.notes.extend(ending.notes.iter().cloned());
    }
}

/// A program whose executions tell about themselves in one place.
pub(crate) struct Observed<'a, P> {
    program: &'a P,
    arguments: String,
    told: &'a Peculiarities,
}

/// An execution of it.
pub(crate) struct ObservedRun<'a, R> {
    run: R,
    told: &'a Peculiarities,
}

impl<'a, P> Observed<'a, P> {
    /// `arguments` are those of the program, for a sentence.
    pub(crate) fn new(program: &'a P, arguments: String, told: &'a Peculiarities) -> Self {
        Self { program, arguments, told }
    }

    /// Why nothing that came of the executions counts: in one of them the test did not run.
    pub(crate) fn ran_no_test(&self) -> Option<StartError> {
        let framework = self.told.told().idle?;
        Some(StartError(format!(
            "{framework} ran no test with the arguments `{}`: name a test that the program has",
            self.arguments
        )))
    }
}

impl<'a, P: Program> Program for Observed<'a, P> {
    type Run = ObservedRun<'a, P::Run>;

    fn start(&self, scope: &Scope) -> Result<Self::Run, StartError> {
        if let Some(error) = self.ran_no_test() {
            return Err(error);
        }
        let run = self.program.start(scope)?;
        self.told.told().started += 1;
        Ok(ObservedRun { run, told: self.told })
    }

    fn epoch(&self) -> Epoch {
        self.program.epoch()
    }

    fn describe(&self, obj: Obj) -> Option<String> {
        self.program.describe(obj)
    }
}

impl<R: Execution> Execution for ObservedRun<'_, R> {
    fn agents(&self) -> &[AgentView] {
        self.run.agents()
    }

    fn run(&mut self, choice: Choice, until: &Until) -> Result<Batch, ExecutionError> {
        self.run.run(choice, until)
    }

    fn replay(&mut self, steps: &[(Choice, OpKey)]) -> Result<Batch, ExecutionError> {
        self.run.replay(steps)
    }

    fn stack(&mut self, thread: ThreadName) -> Vec<Site> {
        self.run.stack(thread)
    }

    fn finish(self) -> Ending {
        let ending = self.run.finish();
        self.told.add(&ending);
        ending
    }
}
