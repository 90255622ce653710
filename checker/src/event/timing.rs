//! Events that come when their time has come: the end of a sleep, and of a wait with a time limit.

use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use super::names::{EventId, ThreadName};

/// The relation of such an event's deadline to other threads. None of it is a matter of objects.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Timing {
    /// Events that come before it in every execution that has them and it, the last one of each other thread: by their clocks
    /// they are so early that their threads would be stalled for too long.
    pub after: SmallVec<[EventId; 2]>,
    /// The thread that this stalls longest.
    pub stall: Option<Stall>,
    /// A thread that gives way was left waiting, which would have been too long for one that does not.
    pub overtakes: bool,
}

/// A thread that could have run while time passed for another one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Stall {
    /// The thread that stood still.
    pub thread: ThreadName,
    /// The time for which it stood still, in nanoseconds of virtual time.
    pub nanos: u64,
}
