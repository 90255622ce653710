//! Two events of an execution the other way round.

use crate::event::names::ThreadName;
use crate::event::position::Position;

/// Two events of a failing execution, in the order that they have there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Swap {
    /// The position of the first one.
    pub first: Position,
    /// The second one.
    pub second: Second,
}

/// An event, or what should have been one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Second {
    /// At this position.
    Event(Position),
    /// The operation that this thread was left with.
    Pending(ThreadName),
}
