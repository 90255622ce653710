//! Collects what executions have to tell about themselves.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use checker::names::{Obj, Site, ThreadName};
use checker::seam::{
    AgentView, Batch, Choice, Ending, Epoch, Execution, ExecutionError, OpKey, Program, Scope, StartError,
    Until,
};

/// Sentences, once each.
#[derive(Debug, Default)]
pub(crate) struct Peculiarities(Mutex<BTreeSet<String>>);

impl Peculiarities {
    fn add(&self, notes: &[String]) {
        if !notes.is_empty() {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(notes.iter().cloned());
        }
    }

    /// All that were collected.
    pub(crate) fn all(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }
}

/// A program whose executions leave their notes in one place.
pub(crate) struct Observed<'a, P> {
    program: &'a P,
    notes: &'a Peculiarities,
}

/// An execution of it.
pub(crate) struct ObservedRun<'a, R> {
    run: R,
    notes: &'a Peculiarities,
}

impl<'a, P> Observed<'a, P> {
    pub(crate) fn new(program: &'a P, notes: &'a Peculiarities) -> Self {
        Self { program, notes }
    }
}

impl<'a, P: Program> Program for Observed<'a, P> {
    type Run = ObservedRun<'a, P::Run>;

    fn start(&self, scope: &Scope) -> Result<Self::Run, StartError> {
        Ok(ObservedRun { run: self.program.start(scope)?, notes: self.notes })
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
        self.notes.add(&ending.notes);
        ending
    }
}
