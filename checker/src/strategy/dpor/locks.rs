//! The conditions under which an operation could run somewhere else than where it ran.
//!
//! The events before it tell whether it could: by the holders of a lock, or by the order that a barrier or a creation makes.
//! Where they do not tell it (a semaphore's first value), what was seen there does; else it has to be tried.

use smallvec::SmallVec;

use crate::event::lock_action::{Hold, LockAction};
use crate::event::names::ThreadName;
use crate::event::operation::OpKind;
use crate::event::position::Position;
use crate::event::recorded::TraceEvent;

/// The answer to the question whether an operation can run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Feasibility {
    Yes,
    /// It cannot.
    No,
    /// Not before these events, at these positions, are undone: they took what it needs.
    Without(Vec<Position>),
    /// It is to be seen.
    Perhaps,
}

/// The need of an operation, as far as it matters here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum EnablingCondition {
    /// It can always run.
    Nothing,
    /// The event that it waits for happens before it, or never: an end, a creation, all arrivals at a barrier.
    Order,
    /// A lock that no thread holds.
    Free,
    /// A lock that no thread holds for writing.
    NoWriter,
    /// One from a semaphore.
    One,
    /// Something that only a run tells.
    Unknown,
}

impl EnablingCondition {
    pub(super) fn of(kind: OpKind) -> Self {
        use OpKind as K;
        if let Some(LockAction::Acquire(hold)) = kind.lock_action() {
            return match hold {
                Hold::Exclusive | Hold::Initialiser => Self::Free,
                Hold::Shared => Self::NoWriter,
                Hold::Unit => Self::One,
            };
        }
        match kind {
            K::Join | K::BarrierLeave | K::FutexResume => Self::Order,
            K::Await | K::SignalWait | K::Io | K::Timeout | K::Expire => Self::Unknown,
            _ => Self::Nothing,
        }
    }
}

/// A thread, the position at which it took a lock, and whether for writing.
type Taken = (ThreadName, Position, bool);

/// The holders of a lock after some events on it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Holders {
    held: SmallVec<[Taken; 1]>,
    /// The once-initialiser has run.
    done: bool,
}

impl Holders {
    /// After the events of several threads, each of which has taken and given back what is its own.
    pub(super) fn and(mut self, other: &Self) -> Self {
        self.held.extend_from_slice(&other.held);
        self.held.sort_unstable_by_key(|&(_, position, _)| position);
        self.done |= other.done;
        self
    }

    /// Takes in the next event on the lock.
    pub(super) fn take_in(&mut self, position: Position, event: &TraceEvent) {
        let thread = event.id.thread;
        if let Some(hold) = event.acquired() {
            match hold {
                Hold::Exclusive => self.held.push((thread, position, true)),
                Hold::Initialiser if !self.done => self.held.push((thread, position, true)),
                Hold::Shared => self.held.push((thread, position, false)),
                Hold::Initialiser | Hold::Unit => {}
            }
        }
        match event.op.kind.lock_action() {
            Some(LockAction::Release(Hold::Initialiser)) => {
                self.held.clear();
                self.done = true;
            }
            Some(LockAction::Reset) => *self = Self::default(),
            Some(LockAction::Release(Hold::Exclusive | Hold::Shared)) => {
                if let Some(at) = self.held.iter().rposition(|(holder, ..)| *holder == thread) {
                    self.held.remove(at);
                }
            }
            _ => {}
        }
    }

    /// Whether a thread that has this need can have the lock. `had` says that it was seen to have it, perhaps on top of its
    /// own hold.
    pub(super) fn let_go(&self, thread: ThreadName, need: EnablingCondition, had: bool) -> Feasibility {
        let (own, others): (Vec<&Taken>, Vec<&Taken>) =
            self.held.iter().partition(|(holder, ..)| *holder == thread);
        if !own.is_empty() && !had {
            return Feasibility::No;
        }
        let in_the_way =
            others.into_iter().filter(|(_, _, writes)| *writes || need == EnablingCondition::Free);
        let positions: Vec<Position> = in_the_way.map(|&(_, position, _)| position).collect();
        if positions.is_empty() { Feasibility::Yes } else { Feasibility::Without(positions) }
    }
}

/// The amount by which events on a semaphore have changed its first value, which it has from the event that initialised it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Units {
    pub(super) init: Option<Position>,
    pub(super) change: i64,
}

impl Units {
    /// Takes in the next event on the semaphore.
    pub(super) fn take_in(&mut self, position: Position, event: &TraceEvent) {
        if event.op.kind == OpKind::Init {
            *self = Self { init: Some(position), change: 0 };
        } else if event.acquired() == Some(Hold::Unit) {
            self.change -= 1;
        } else if event.released() == Some(Hold::Unit) {
            self.change += 1;
        }
    }

    /// After the events of several threads since the same initialisation.
    pub(super) fn and(self, other: Self) -> Self {
        Self { init: self.init.max(other.init), change: self.change + other.change }
    }
}

/// Whether an operation of this kind takes one from a semaphore, tries to, or adds one.
pub(super) fn is_of_semaphore(kind: OpKind) -> bool {
    let action = kind.lock_action();
    action.and_then(|action| action.acquires().or(action.releases())) == Some(Hold::Unit)
}
