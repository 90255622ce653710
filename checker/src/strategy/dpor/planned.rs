//! An execution to come: what is replayed, and how it goes on.

use super::branch::Branch;
use crate::event::agent::Choice;
use crate::event::position::Position;
use crate::event::step::OpKey;

/// Of an execution that was ended by a limit, the races of this many events are reversed.
const OF_A_CUT_ONE: Position = Position::after(2_000);

/// The position up to which the races of an execution are reversed.
pub(super) fn length(limit_reached: bool) -> Position {
    if limit_reached { OF_A_CUT_ONE } else { Position::BEHIND_ALL }
}

/// The replayed beginning of an execution: choices, with their operations.
pub(super) type ReplayPrefix = Vec<(Choice, OpKey)>;

/// An execution to come.
#[derive(Debug, Default)]
pub struct PlannedExecution<T> {
    pub(super) prefix: ReplayPrefix,
    /// The branch by which it goes on.
    pub(super) branch: Branch,
    pub(super) task: T,
    /// Its id, if it was handed out ahead of its turn.
    pub(super) speculation_id: Option<u64>,
}

/// The executions that a search has been through.
#[derive(Clone, Copy, Default, Debug)]
pub struct EnumerationCoverage {
    /// All with at most so many preemptions.
    pub(super) preemptions: Option<u32>,
    /// There is more than that, which it is not looking for.
    pub(super) part: bool,
}
