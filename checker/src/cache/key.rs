//! The key of a state: the state, the last thread, and the context that the costs of choices depend on.

use serde::{Deserialize, Serialize};

use crate::event::operation::MOST_YIELDS;
use crate::hb::ThreadTag;
use crate::hb::hash::HbHash;

/// A state as a bounded search sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct BoundedState {
    /// Happens-before so far.
    pub state: HbHash,
    /// The thread that ran last, whatever came of it.
    pub ran: LastThread,
    /// The context on which the costs of the choices here depend.
    pub position: ScheduleContext,
}

/// The thread that ran last, if any; and the number of times that it gave way
/// ([`crate::state::scheduling_point::SchedulingPoint::yields`]).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct LastThread(pub(super) u32);

impl LastThread {
    /// The bits that hold the number of times that it gave way; a packed position has the two below.
    pub(super) const YIELDS: u32 = MOST_YIELDS << 2;
    /// Set for every thread, so that no thread has the value that stands for none.
    const SOMEBODY: u32 = 1 << 6;

    /// A thread's entry.
    #[must_use]
    pub fn of(tag: Option<ThreadTag>, yields: u32) -> Self {
        let Some(tag) = tag else { return Self(0) };
        let yields = yields.min(MOST_YIELDS) << 2;
        Self(tag.0 as u32 & !(Self::SOMEBODY - 1) | Self::SOMEBODY | yields)
    }
}

/// The context of a state: what the choices there and their costs depend on beside it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum ScheduleContext {
    /// Nothing: every choice is free, and will be after every time-out.
    Free,
    /// This thread: leaving it, or skipping it, costs.
    At(LastThread),
    /// This thread is blocked, but a time-out may let it go on as if it had never stopped.
    Waits(LastThread),
    /// This thread is at a yield. If it gave way often enough before, it cannot be chosen; if it goes on, it has given way.
    Yields(LastThread),
}

/// A hash in halves: a `u128` would be aligned to 16 bytes and waste them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct StateKey(pub(super) [u64; 2]);

impl StateKey {
    /// No state.
    pub(crate) const NONE: Self = Self([0, 0]);

    /// A state together with the thread that ran last.
    pub(crate) fn with(state: HbHash, ran: LastThread) -> Self {
        let Self([low, high]) = state.into();
        Self([low, high ^ u64::from(ran.0) << 32])
    }

    /// The state of which this is the key together with `ran`.
    pub(crate) fn state(self, ran: LastThread) -> HbHash {
        let Self([low, high]) = self;
        HbHash(u128::from(low) | u128::from(high ^ u64::from(ran.0) << 32) << 64)
    }

    /// Evenly distributed bits.
    pub(crate) fn spread(self) -> u64 {
        self.0[0]
    }
}

impl From<HbHash> for StateKey {
    fn from(hash: HbHash) -> Self {
        Self([hash.0 as u64, (hash.0 >> 64) as u64])
    }
}
