//! Position of a debug session.

use checker::names::ThreadName;
use checker::position::Position;

/// A place in the recorded execution.
///
/// Without legs, the execution is at the point: every event before it has run, and every thread stands at its next key
/// point, is blocked, has failed or has ended. With legs, the same events have run, but the thread of the last one (or a
/// thread that it created) is still on its way to its next key point: it stands where the legs lead. So what has legs comes
/// before what has none.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct ReplayPosition {
    pub(super) point: Position,
    pub(super) legs: Vec<Leg>,
}

/// A part of the way between two key points.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Leg {
    /// The thread that runs.
    pub(super) thread: ThreadName,
    /// Run-time address of the instruction before which it stops, the same in every copy of the program.
    pub(super) address: u64,
    /// Ordinal of its arrival there on this leg, from 1.
    pub(super) count: u32,
}

impl ReplayPosition {
    /// The point itself, at which every thread stands.
    pub(super) fn at_rest(point: Position) -> Self {
        Self { point, legs: Vec::new() }
    }

    /// Whether every thread is at a key point.
    pub(super) fn is_at_rest(&self) -> bool {
        self.legs.is_empty()
    }
}
