//! Two events of an execution the other way round.

use crate::event::names::ThreadName;

/// Two events of a failing execution, in the order that they have there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Swap {
    /// The position of the first one.
    pub first: u32,
    /// The second one.
    pub second: Second,
}

/// An event, or what should have been one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Second {
    /// At this position.
    Event(u32),
    /// The operation that this thread was left with.
    Pending(ThreadName),
}
