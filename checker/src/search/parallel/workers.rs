//! The work of workers beside the thread that runs the search: jobs, and their results.

use std::mem;

use crate::execution::{Limits, OnlyAt, RunOutcome, Runner, TerminationPoint};
use crate::limit::Limit;
use crate::program::{Epoch, ExecutionSummary, Program};
use crate::strategy::{Guide, Notes, WorkItem};
use crate::trace::Trace;

/// Workers beside the thread that runs the search.
pub trait Workers {
    /// The number of workers.
    fn count(&self) -> usize;

    /// The number of further jobs that they take now, so that none of them is without one.
    fn room(&mut self) -> usize;

    /// Gives them a job.
    fn hand_out(&mut self, job: Job);

    /// Takes back a job that no worker has begun; says whether that was so.
    fn recall(&mut self, id: u64) -> bool;

    /// A job that is done, if there is one. With `wait`, waits a moment for one that is under way; the caller asks again.
    fn collect(&mut self, wait: bool) -> Option<JobOutcome>;

    /// Whether a job is still to be collected: waiting, under way or done.
    fn holds(&self, id: u64) -> bool;

    /// The result of a job was taken in: so many of its events, and how it ended.
    fn used(&mut self, id: u64, events: u32, summary: &ExecutionSummary);

    /// The result of a job is not needed.
    fn unused(&mut self, id: u64);

    /// The buffer in which a result was recorded, which is of no more use: the next one can be recorded there.
    fn give_back(&mut self, _paper: TraceBuffer) {}
}

/// The buffer in which an execution is recorded. A worker that runs one after the other uses it again: it keeps its room.
#[derive(Debug, Default)]
pub struct TraceBuffer(pub(in crate::search) Trace);

impl TraceBuffer {
    /// The number of events that it has room for.
    #[must_use]
    pub fn room(&self) -> usize {
        self.0.steps.capacity()
    }
}

/// The context of a worker from job to job: room, and what its executions had in common.
pub struct WorkerContext<'p, P>(Runner<'p, P>);

impl<'p, P: Program> WorkerContext<'p, P> {
    /// For executions of this program: that of the search, or another one that is the same.
    #[must_use]
    pub fn new(program: &'p P) -> Self {
        Self(Runner::new(program, Limits::default()))
    }
}

/// No workers.
#[derive(Clone, Copy, Debug)]
pub struct NoWorkers;

impl Workers for NoWorkers {
    fn count(&self) -> usize {
        0
    }

    fn room(&mut self) -> usize {
        0
    }

    fn hand_out(&mut self, _job: Job) {}

    fn recall(&mut self, _id: u64) -> bool {
        false
    }

    fn collect(&mut self, _wait: bool) -> Option<JobOutcome> {
        None
    }

    fn holds(&self, _id: u64) -> bool {
        false
    }

    fn used(&mut self, _id: u64, _events: u32, _ending: &ExecutionSummary) {}

    fn unused(&mut self, _id: u64) {}
}

/// An item to be run ahead of its turn.
pub struct Job {
    pub(in crate::search) item: WorkItem,
    pub(in crate::search) guide: Box<dyn Guide + Send>,
    pub(in crate::search) limits: Limits,
    pub(in crate::search) only_at: OnlyAt,
    pub(in crate::search) epoch: Epoch,
}

/// The outcome of a job.
pub struct JobOutcome {
    id: u64,
    pub(in crate::search) ran: Option<Ran>,
}

/// An execution.
pub(in crate::search) struct Ran {
    pub(in crate::search) end: RunOutcome,
    pub(in crate::search) notes: Notes,
    pub(in crate::search) trace: Trace,
    pub(in crate::search) summary: ExecutionSummary,
    /// See [`Runner::termination`].
    pub(in crate::search) termination: TerminationPoint,
}

impl Job {
    /// The id of the item.
    #[must_use]
    pub fn id(&self) -> u64 {
        self.item.id
    }

    /// The key points that it is for.
    #[must_use]
    pub fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// Runs it, within this limit.
    pub fn run<P: Program>(
        self,
        desk: &mut WorkerContext<'_, P>,
        paper: TraceBuffer,
        limit: &Limit,
    ) -> JobOutcome {
        let Self { item, mut guide, limits, only_at, epoch } = self;
        let (id, runner) = (item.id, &mut desk.0);
        if runner.program.epoch() != epoch {
            return JobOutcome { id, ran: None };
        }
        (runner.limits, runner.only_at, runner.trace) = (limits, only_at, paper.0);
        let end = runner.run_within(&guide.scope(), &item.prefix, &mut *guide, &mut || limit.look());
        let Ok(end @ (RunOutcome::Completed(_) | RunOutcome::Pruned | RunOutcome::LimitExceeded(..))) = end
        else {
            return JobOutcome { id, ran: None };
        };
        let termination = runner.termination();
        guide.ended(&runner.trace, matches!(end, RunOutcome::LimitExceeded(..)));
        let (trace, summary) = (mem::take(&mut runner.trace), mem::take(&mut runner.summary));
        let ran = Ran { end, notes: guide.notes(), trace, summary, termination };
        JobOutcome { id, ran: Some(ran) }
    }
}

impl JobOutcome {
    /// The id of the item.
    #[must_use]
    pub fn id(&self) -> u64 {
        self.id
    }

    /// The same without a result: it has turned out that it cannot count.
    #[must_use]
    pub fn void(self) -> Self {
        Self { ran: None, ..self }
    }

    pub(in crate::search) fn events(&self) -> usize {
        let planned = |ran: &Ran| ran.notes.expansion.as_ref().map_or(0, |expansion| expansion.events());
        self.ran.as_ref().map_or(0, |ran| ran.trace.steps.len() + planned(ran))
    }
}
