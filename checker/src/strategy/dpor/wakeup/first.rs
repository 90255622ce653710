//! Whether a move can come first in a sequence: what weak initials are.

use super::Move;

/// How a move can come first in a sequence.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum First {
    /// It is this one of the sequence.
    At(usize),
    /// It is none of the sequence, and commutes with all of it.
    Beside,
}

/// Whether a move can come first in a sequence: it is a *weak initial* of it.
pub(super) fn first(this: &Move, sequence: &[Move]) -> Option<First> {
    let own = sequence.iter().position(|other| other.thread() == this.thread());
    let Some(at) = own else {
        let commutes = sequence.iter().all(|other| this.commutes(other));
        return (commutes && this.certain).then_some(First::Beside);
    };
    let there = &sequence[at];
    // With the same past it does the same: what one of them did, the other one would do.
    let effect = if this.ran { &this.effect } else { &there.effect };
    let free = sequence[..at].iter().all(|other| !other.effect.conflicts(effect));
    (is_same(this, there) && free).then_some(First::At(at))
}

/// Whether both are one event, which may go several ways where that is open.
fn is_same(this: &Move, other: &Move) -> bool {
    let open = this.pick.is_none() || other.pick.is_none();
    this.agent == other.agent && (open || this.pick == other.pick)
}
