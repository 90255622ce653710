//! Events, and what each of them changed.

use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use super::agent::{AgentView, OpOutcome};
use super::names::{EventId, Site};
use super::operation::{Effect, Op, OpKind};
use super::timing::Timing;

/// Enough of an operation to recognise it in a replay.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct OpKey {
    /// The kind of operation.
    pub kind: OpKind,
    /// Its place in the code.
    pub site: Site,
}

/// An operation that ran.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Event {
    /// Its name.
    pub id: EventId,
    /// The operation that was pending.
    pub op: Op,
    /// Its effect: part of [`Op::may`]. A creation has the new thread in [`Op::peer`].
    pub did: Effect,
    /// The way in which it went.
    pub outcome: OpOutcome,
    /// Its place in the code.
    pub site: Site,
    /// The event that woke this thread up, which therefore happens before this one.
    pub woken_by: Option<EventId>,
    /// Only where a sleep or a timed wait ends.
    pub timing: Option<Box<Timing>>,
}

/// An event, and the views that it changed: created, woken, blocked, failed, finished, or with a new pending operation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// The event that ran.
    pub event: Event,
    /// Every view that is different now. An open timed wait that has closed is
    /// [`Status::Finished`](super::agent::Status::Finished).
    pub changed: SmallVec<[AgentView; 2]>,
    /// By now the process has ended by itself. The threads that are left run on as far as they can, to show what they had
    /// left to do, but it is no deadlock if they cannot.
    pub process_ended: bool,
}
