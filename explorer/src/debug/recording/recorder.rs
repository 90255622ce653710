//! Takes down what an execution says of itself, step by step: a decorator over `Program`.

use std::sync::{Mutex, MutexGuard, PoisonError};

use checker::failure::Failure;
use checker::names::{Obj, Site, ThreadName};
use checker::object_description::ObjectDescription;
use checker::position::PerEvent;
use checker::program::{
    AgentView, Batch, Choice, Epoch, Execution, ExecutionError, ExecutionSummary, OpKey, Program, Scope,
    StartError, Step, Until,
};
use checker::trace::Trace;
use delegate::delegate;

/// Log of the last execution.
#[derive(Default)]
pub(in crate::debug) struct Recorder(Mutex<StepLog>);

/// The views before the first event, and every event with the views that it changed.
#[derive(Clone, Default)]
pub(in crate::debug) struct StepLog {
    pub(in crate::debug) initial: Vec<AgentView>,
    pub(in crate::debug) steps: PerEvent<Step>,
}

impl Recorder {
    pub(in crate::debug) fn take(&self) -> StepLog {
        std::mem::take(&mut self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, StepLog> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A program whose executions are taken down.
pub(in crate::debug) struct RecordedProgram<'a, P> {
    pub(in crate::debug) program: &'a P,
    pub(in crate::debug) recorder: &'a Recorder,
}

/// An execution of it.
pub(in crate::debug) struct RecordedRun<'a, R> {
    run: R,
    recorder: &'a Recorder,
}

impl<'a, P: Program> Program for RecordedProgram<'a, P> {
    type Run = RecordedRun<'a, P::Run>;

    fn start(&self, scope: &Scope) -> Result<Self::Run, StartError> {
        let run = self.program.start(scope)?;
        *self.recorder.lock() = StepLog { initial: run.agents().to_vec(), steps: PerEvent::default() };
        Ok(RecordedRun { run, recorder: self.recorder })
    }

    delegate! {
        to self.program {
            fn epoch(&self) -> Epoch;
            fn describe(&self, obj: Obj) -> Option<ObjectDescription>;
            fn is_reference_count(&self, obj: Obj) -> bool;
            fn needs_audit(&self, trace: &Trace) -> bool;
            fn attribute(&self, failure: &mut Failure, trace: &Trace, summary: &ExecutionSummary) -> u64;
        }
    }
}

impl<R: Execution> RecordedRun<'_, R> {
    fn note(&self, batch: Result<Batch, ExecutionError>) -> Result<Batch, ExecutionError> {
        if let Ok(batch) = &batch {
            self.recorder.lock().steps.extend(batch.steps.iter().cloned());
        }
        batch
    }
}

impl<R: Execution> Execution for RecordedRun<'_, R> {
    delegate! {
        to self.run {
            fn agents(&self) -> &[AgentView];
            fn stack(&mut self, thread: ThreadName) -> Vec<Site>;
            fn finish(self) -> ExecutionSummary;
        }
    }

    fn run(&mut self, choice: Choice, until: &Until) -> Result<Batch, ExecutionError> {
        let batch = self.run.run(choice, until);
        self.note(batch)
    }

    fn replay(&mut self, steps: &[(Choice, OpKey)]) -> Result<Batch, ExecutionError> {
        let batch = self.run.replay(steps);
        self.note(batch)
    }
}
