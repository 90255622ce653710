//! The status of an instruction that touches memory.

/// The status of an instruction that touches memory, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    /// It touches its own frame, or thread-local memory, which no other thread was seen to touch: not watched.
    Dormant,
    /// Watched, and never seen to share memory; how often it was seen to touch memory ([`super::unobserved::parts`]).
    Watched(u32),
    /// It has touched shared memory: where it does, it is a key point.
    Promoted,
    /// No longer watched.
    Disarmed,
}

impl Status {
    /// Whether there may be a trap at it.
    pub(crate) fn may_trap(self) -> bool {
        self != Self::Dormant
    }

    pub(super) fn is_watched(self) -> bool {
        !matches!(self, Self::Dormant | Self::Disarmed)
    }
}
