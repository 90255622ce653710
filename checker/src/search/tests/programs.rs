//! Programs that are not what a search hopes for.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use delegate::delegate;

use super::*;
use crate::event::agent::{AgentView, Choice};
use crate::event::failure::Failure;
use crate::event::names::{Obj, Site, ThreadName};
use crate::event::object_description::ObjectDescription;
use crate::event::step::OpKey;
use crate::model::ModelRun;
use crate::program::{
    Batch, Epoch, Execution, ExecutionError, ExecutionSummary, Program, Scope, StartError, Stop, Until,
};
use crate::trace::Trace;

/// Another program from the `after`-th start on.
pub(crate) struct Changing {
    pub(super) programs: [Model; 2],
    pub(super) after: u32,
    pub(crate) starts: AtomicU32,
}

impl Changing {
    pub(crate) fn new(first: &str, then: &str, after: u32) -> Self {
        Self { programs: [model(first), model(then)], after, starts: AtomicU32::new(0) }
    }
}

impl Program for Changing {
    type Run = ModelRun;

    fn start(&self, scope: &Scope) -> Result<ModelRun, StartError> {
        let start = self.starts.fetch_add(1, Ordering::Relaxed);
        self.programs[usize::from(start >= self.after)].start(scope)
    }

    delegate! {
        to self.programs[0] {
            fn epoch(&self) -> Epoch;
            fn describe(&self, obj: Obj) -> Option<ObjectDescription>;
            fn is_reference_count(&self, obj: Obj) -> bool;
            fn needs_audit(&self, trace: &Trace) -> bool;
            fn attribute(&self, failure: &mut Failure, trace: &Trace, summary: &ExecutionSummary) -> u64;
        }
    }
}

/// The first program, until an event of an execution after so many others shows that there are more key points: those of
/// the second.
pub(crate) struct Promoting {
    pub(super) programs: [Model; 2],
    pub(super) after: u32,
    /// Only audits show it.
    pub(super) to_audits: bool,
    pub(crate) starts: AtomicU32,
    pub(super) epoch: Arc<AtomicU32>,
}

impl Promoting {
    pub(crate) fn new(first: &str, then: &str, after: u32) -> Self {
        Self {
            programs: [model(first), model(then)],
            after,
            to_audits: false,
            starts: AtomicU32::new(0),
            epoch: Arc::default(),
        }
    }
}

/// An execution of [`Promoting`].
pub(crate) struct PromotingRun {
    run: ModelRun,
    promotes: bool,
    epoch: Arc<AtomicU32>,
}

impl Program for Promoting {
    type Run = PromotingRun;

    fn start(&self, scope: &Scope) -> Result<PromotingRun, StartError> {
        let start = self.starts.fetch_add(1, Ordering::Relaxed);
        let epoch = self.epoch.load(Ordering::Relaxed);
        let run = self.programs[epoch as usize].start(scope)?;
        let promotes = epoch == 0 && start >= self.after && (!self.to_audits || *scope == Scope::Audit);
        Ok(PromotingRun { run, promotes, epoch: self.epoch.clone() })
    }

    fn epoch(&self) -> Epoch {
        Epoch(self.epoch.load(Ordering::Relaxed))
    }

    delegate! {
        to self.programs[0] {
            fn describe(&self, obj: Obj) -> Option<ObjectDescription>;
            fn is_reference_count(&self, obj: Obj) -> bool;
            fn needs_audit(&self, trace: &Trace) -> bool;
            fn attribute(&self, failure: &mut Failure, trace: &Trace, summary: &ExecutionSummary) -> u64;
        }
    }
}

impl Execution for PromotingRun {
    delegate! {
        to self.run {
            fn agents(&self) -> &[AgentView];
            fn stack(&mut self, thread: ThreadName) -> Vec<Site>;
            fn finish(self) -> ExecutionSummary;
        }
    }

    fn run(&mut self, choice: Choice, until: &Until) -> Result<Batch, ExecutionError> {
        let mut batch = self.run.run(choice, until)?;
        if self.promotes {
            self.epoch.store(1, Ordering::Relaxed);
            batch.stop = Stop::Promoted;
        }
        Ok(batch)
    }

    fn replay(&mut self, steps: &[(Choice, OpKey)]) -> Result<Batch, ExecutionError> {
        let mut batch = self.run.replay(steps)?;
        if self.promotes {
            self.epoch.store(1, Ordering::Relaxed);
            batch.stop = Stop::Promoted;
        }
        Ok(batch)
    }
}
