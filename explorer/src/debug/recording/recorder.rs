//! Takes down what an execution says of itself, step by step: a decorator over `Program`.

use std::sync::{Mutex, MutexGuard, PoisonError};

use checker::names::{Obj, ThreadName};
use checker::seam::{
    AgentView, Batch, Choice, Ending, Epoch, Execution, ExecutionError, OpKey, Program, Scope, StartError,
    Step, Until,
};
use checker::trace::Trace;

/// What the last execution said.
#[derive(Default)]
pub(in crate::debug) struct Tape(Mutex<Taken>);

/// The views before the first event, and every event with the views that it changed.
#[derive(Clone, Default)]
pub(in crate::debug) struct Taken {
    pub(in crate::debug) initial: Vec<AgentView>,
    pub(in crate::debug) steps: Vec<Step>,
}

impl Tape {
    pub(in crate::debug) fn take(&self) -> Taken {
        std::mem::take(&mut self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, Taken> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A program whose executions are taken down.
pub(in crate::debug) struct Taped<'a, P> {
    pub(in crate::debug) program: &'a P,
    pub(in crate::debug) tape: &'a Tape,
}

/// An execution of it.
pub(in crate::debug) struct TapedRun<'a, R> {
    run: R,
    tape: &'a Tape,
}

impl<'a, P: Program> Program for Taped<'a, P> {
    type Run = TapedRun<'a, P::Run>;

    fn start(&self, scope: &Scope) -> Result<Self::Run, StartError> {
        let run = self.program.start(scope)?;
        *self.tape.lock() = Taken { initial: run.agents().to_vec(), steps: Vec::new() };
        Ok(TapedRun { run, tape: self.tape })
    }

    fn epoch(&self) -> Epoch {
        self.program.epoch()
    }

    fn describe(&self, obj: Obj) -> Option<String> {
        self.program.describe(obj)
    }

    fn takes_doubt(&self, trace: &Trace) -> bool {
        self.program.takes_doubt(trace)
    }
}

impl<R: Execution> TapedRun<'_, R> {
    fn note(&self, batch: Result<Batch, ExecutionError>) -> Result<Batch, ExecutionError> {
        if let Ok(batch) = &batch {
            self.tape.lock().steps.extend_from_slice(&batch.steps);
        }
        batch
    }
}

impl<R: Execution> Execution for TapedRun<'_, R> {
    fn agents(&self) -> &[AgentView] {
        self.run.agents()
    }

    fn run(&mut self, choice: Choice, until: &Until) -> Result<Batch, ExecutionError> {
        let batch = self.run.run(choice, until);
        self.note(batch)
    }

    fn replay(&mut self, steps: &[(Choice, OpKey)]) -> Result<Batch, ExecutionError> {
        let batch = self.run.replay(steps);
        self.note(batch)
    }

    fn stack(&mut self, thread: ThreadName) -> Vec<checker::names::Site> {
        self.run.stack(thread)
    }

    fn finish(self) -> Ending {
        self.run.finish()
    }
}
