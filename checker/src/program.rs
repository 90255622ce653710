//! The contract between the checker and whatever it drives.
//!
//! 1. A [`Program`] can be started any number of times. Every start is the same program in the same initial state.
//! 2. An [`Execution`] stands still except inside [`Execution::run`] and [`Execution::replay`]. Whenever it stands
//!    still, every thread is at a key point with a known pending operation, or blocked with one, or failed, or finished.
//! 3. Exactly one thread runs at a time, so what happens is a function of the choices alone. The same choices give the
//!    same events, in this process and in another one.
//! 4. The backend *describes* operations ([`Op::may`] before, [`Event::did`] after). Which of them depend on one another
//!    is the checker's business alone.
//! 5. No address, process id or file descriptor leaves the backend: only the names of [`crate::event::names`].
//! 6. A failed thread is held where it failed: it never moves again, the others can. The process ends in [`Execution::finish`].
//!    A thread that does not come to its next key point within the time limit has failed with
//!    [`FailureKind::Timeout`](crate::event::failure::FailureKind::Timeout), at its event.
//! 7. A thread at a [`OpKind::Yield`] or [`OpKind::Sleep`] can be chosen. Whether it has to let others go first is the
//!    checker's business.
//!
//! The trait exists of its own because searches, oracles and cost definitions are tested at millions of steps a second against
//! the in-memory model program, and run unchanged against real processes.

use std::error::Error;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use crate::account::{HiddenAccess, Unwatched};
pub use crate::event::agent::{Agent, AgentView, Choice, OpOutcome, Status};
use crate::event::divergence::Difference;
use crate::event::failure::Failure;
use crate::event::names::{EventId, Obj, Site, ThreadName};
use crate::event::object_description::ObjectDescription;
use crate::event::operation::{Op, OpKind};
use crate::event::position::Position;
use crate::event::ranges::byte_set::ByteSet;
use crate::event::refusal::{ImpossibleChoice, UnsupportedFeature};
pub use crate::event::step::{Event, OpKey, Step};
pub use crate::event::wait::BlockedOn;
use crate::peculiarity::Peculiarity;
use crate::trace::Trace;

/// Something whose executions can be explored. Shared by all workers.
///
/// No method has a body of its own: a decorator would lack it without a word.
pub trait Program: Sync {
    /// One execution of it.
    type Run: Execution;

    /// Starts an execution, stopped before its first event.
    ///
    /// # Errors
    /// When the program cannot be started; the text says why and what to do.
    fn start(&self, scope: &Scope) -> Result<Self::Run, StartError>;

    /// Grows when operations that were invisible have become key points: whatever was learnt about indices and hashes
    /// in an older epoch no longer holds.
    fn epoch(&self) -> Epoch;

    /// A description of an object, if there is more to say than its name.
    fn describe(&self, obj: Obj) -> Option<ObjectDescription>;

    /// Whether an object counts the owners of a block, which a library does for itself (`std::shared_ptr`, `Arc`).
    fn is_reference_count(&self, obj: Obj) -> bool;

    /// Whether what has run since this was last asked, which ended with this trace, may have key points that were not watched:
    /// an audit of it will tell.
    fn needs_audit(&self, trace: &Trace) -> bool;

    /// Adds to a failure of an execution that has ended what neither the threads nor their stacks showed by then
    /// ([`Failure::line`]). The same execution gets the same. Returns the number of executions that it took.
    fn attribute(&self, failure: &mut Failure, trace: &Trace, summary: &ExecutionSummary) -> u64;
}

/// A number that grows when key points are added.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
pub struct Epoch(pub u32);

/// The set of operations that are to be scheduling points.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Scope {
    /// Every key point.
    #[default]
    All,
    /// Every key point; and whatever may be one is watched, even what the backend has given up watching: what that misses is in
    /// [`ExecutionSummary::unwatched`]. Events are those of [`Scope::All`], unless key points are found. A claim that every schedule was
    /// run rests on such executions alone.
    Audit,
    /// Every key point; and accesses of memory by code of libraries in which no key point is are in [`ExecutionSummary::hidden`].
    Hidden,
    /// Synchronisation operations, spin loops that are recognised, and accesses to these bytes. Other accesses run along with
    /// the event of their thread before them, but for the first one after the thread was created and after an event that may
    /// let another agent go ([`OpKind::may_let_go`]): a thread that has no influence on the next choice is not held up.
    Objects(Arc<ByteSet>),
}

impl Scope {
    /// Whether a thread runs this operation along with its event before, unless that may have let another agent go.
    #[must_use]
    pub fn leaves_out(&self, op: &Op) -> bool {
        let Self::Objects(objects) = self else { return false };
        let is_within = || op.may.accesses.iter().any(|access| objects.overlap(access.obj));
        op.kind.is_access() && op.kind != OpKind::Await && !is_within()
    }
}

/// An error of a backend, or of what stands in front of one; it has words of its own.
#[derive(Debug, Clone, thiserror::Error)]
#[error(transparent)]
pub struct BackendError(Arc<dyn Error + Send + Sync>);

impl BackendError {
    /// The error of this origin.
    pub fn new(error: impl Error + Send + Sync + 'static) -> Self {
        Self(Arc::new(error))
    }
}

/// Two are equal that are copies of one.
impl PartialEq for BackendError {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for BackendError {}

/// The program could not be started.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StartError {
    /// An error of the backend.
    #[error(transparent)]
    Failed(#[from] BackendError),
    /// The user wants to stop.
    #[error("cancelled")]
    Cancelled,
    /// The time for everything is up.
    #[error("out of time")]
    OutOfTime,
}

impl From<ExecutionError> for StartError {
    fn from(error: ExecutionError) -> Self {
        match error {
            ExecutionError::Cancelled => Self::Cancelled,
            ExecutionError::OutOfTime => Self::OutOfTime,
            ExecutionError::Backend(error) => Self::Failed(error),
            error => Self::Failed(BackendError::new(error)),
        }
    }
}

/// One execution, advanced by choices.
pub trait Execution {
    /// Every thread in creation order (finished and blocked ones too), then the open timed waits.
    fn agents(&self) -> &[AgentView];

    /// Lets the chosen agent run its pending operation, and then go on as `until` allows.
    ///
    /// Every event of the batch comes with all views that it changed, so that the caller can keep its own copy of
    /// [`Execution::agents`] exact at every point in between.
    ///
    /// # Errors
    /// When the choice is not possible here, or the execution was cut short.
    fn run(&mut self, choice: Choice, until: &Until) -> Result<Batch, ExecutionError>;

    /// Runs the choices given, one event each, checking each event against the operation expected there.
    ///
    /// # Errors
    /// [`ExecutionError::Diverged`] at the first choice that is not possible or whose operation is another one.
    fn replay(&mut self, steps: &[(Choice, OpKey)]) -> Result<Batch, ExecutionError>;

    /// The stack of a thread, innermost frame first, as it stands now; empty where there is none.
    fn stack(&mut self, thread: ThreadName) -> Vec<Site>;

    /// Ends the execution, whatever state it is in, and leaves nothing behind.
    fn finish(self) -> ExecutionSummary;
}

/// The extent of a run without asking again: the chosen agent goes on while nothing of this holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Until {
    /// At most this many events; at least 1.
    pub events: u32,
    /// Stop as soon as one of these agents becomes enabled.
    pub on_enabled: SmallVec<[Agent; 2]>,
    /// Stop before an operation that may touch one of these objects.
    pub on_objects: SmallVec<[Obj; 2]>,
    /// The next access of the chosen agent is a key point, whatever the scope leaves out.
    pub at_next: bool,
}

impl Until {
    /// One event.
    #[must_use]
    pub fn one() -> Self {
        Self::events(1)
    }

    /// At most `events` events.
    #[must_use]
    pub fn events(events: u32) -> Self {
        Self { events, on_enabled: SmallVec::new(), on_objects: SmallVec::new(), at_next: false }
    }
}

/// The reason for which a batch ended. Where several hold, the first in this list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stop {
    /// A thread failed.
    Failed,
    /// New key points were found: this execution is only good for finishing, see [`Program::epoch`].
    Promoted,
    /// The chosen agent has finished.
    Finished,
    /// The chosen agent is blocked, or would give way next.
    Blocked,
    /// One of [`Until::on_enabled`] has become enabled.
    Enabled,
    /// The next operation may touch one of [`Until::on_objects`].
    Object,
    /// [`Until::events`] have run.
    Quantum,
}

/// The events of one call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Batch {
    /// In the order in which they ran.
    pub steps: Vec<Step>,
    /// The reason for its end.
    pub stop: Stop,
}

/// The execution could not go on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExecutionError {
    /// The replay did not go as recorded. The position counts the choices of the replay from 0.
    #[error("event {}: expected {}, got {}", .0.at, .0.expected, .0.got)]
    Diverged(Box<Difference>),
    /// The choice is not possible here: a fault of the caller.
    #[error(transparent)]
    Impossible(#[from] ImpossibleChoice),
    /// The user wants to stop.
    #[error("cancelled")]
    Cancelled,
    /// The time for everything is up, and what runs does not come to its next event.
    #[error("out of time")]
    OutOfTime,
    /// The program did something that cannot be controlled.
    #[error(transparent)]
    Unsupported(#[from] UnsupportedFeature),
    /// An error of the backend, which could not go on.
    #[error(transparent)]
    Backend(#[from] BackendError),
}

impl ExecutionError {
    /// The same of a replay that had run so many choices before these.
    pub(crate) fn later_by(mut self, choices: usize) -> Self {
        if let Self::Diverged(difference) = &mut self {
            difference.at = Position::after(choices + difference.at.count());
        }
        self
    }
}

/// The end of an execution.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ExecutionSummary {
    /// The bytes that the program wrote to its standard output, at most the backend's limit.
    pub stdout: Vec<u8>,
    /// The bytes that the program wrote to its standard error, at most the backend's limit.
    pub stderr: Vec<u8>,
    /// Something was left out of `stdout` or `stderr`.
    pub truncated: bool,
    /// Peculiarities of the program to tell the user.
    pub notes: Vec<Peculiarity>,
    /// A thread had to give way where its code says nothing of that, so that what comes of its going on was left out, or what
    /// ran depended on more than the order of events: no bound is covered.
    pub left_out: bool,
    /// The account of unwatched code and effects, each entry once.
    pub unwatched: Vec<Unwatched>,
    /// Known only where everything is watched.
    pub store_buffers: StoreBuffers,
    /// For [`Scope::Hidden`]: accesses between events, in the order in which they ran; `None` where not all are known.
    pub hidden: Option<Vec<HiddenAccess>>,
}

/// The store buffers of processors, as far as the kinds of events do not tell of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StoreBuffers {
    /// Events before which their threads' buffers were emptied by what is no event, or by the end of a call: a fence, an
    /// indivisible instruction on private memory, the release of a mutex.
    pub emptied_before: Vec<EventId>,
    /// Events that come to no indivisible instruction, although others of their kinds do: a thread locks a mutex that it holds
    /// already, or asks for the time, which needs no kernel. What such a call stores may stay in the buffer as well.
    pub left_by: Vec<EventId>,
}

impl ExecutionSummary {
    /// Whether processes or threads ran beside the schedule, so that one schedule need not do the same twice.
    #[must_use]
    pub fn has_unscheduled(&self) -> bool {
        self.unwatched.iter().any(|entry| entry.kind.is_unscheduled())
            || self.notes.iter().any(|note| note.has_unscheduled())
    }
}
