//! Whether an operation could run somewhere else than where it ran.
//!
//! Where it could, it is told from the events before it: who holds a lock, how a barrier or a creation orders. Where
//! that does not tell it (a semaphore's first value), what was seen there does; else it has to be tried.

use smallvec::SmallVec;

use crate::names::ThreadName;
use crate::op::{Mode, OpKind};
use crate::recorded::Recorded;

/// Whether an operation can run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Can {
    Yes,
    /// It cannot.
    No,
    /// Not before these events, at these positions, are undone: they took what it needs.
    Without(Vec<u32>),
    /// That is to be seen.
    Perhaps,
}

/// What an operation needs, as far as it matters here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Need {
    /// It can always run.
    Nothing,
    /// What it waits for happens before it, or never: an end, a creation, all arrivals at a barrier.
    Order,
    /// That nobody holds the lock.
    Free,
    /// That nobody holds the lock for writing.
    NoWriter,
    /// One from a semaphore.
    One,
    /// Something that only a run tells.
    Unknown,
}

impl Need {
    pub(super) fn of(kind: OpKind) -> Self {
        use OpKind as K;
        match kind {
            K::Lock | K::Reacquire | K::WriteLock | K::Once => Self::Free,
            K::ReadLock => Self::NoWriter,
            K::SemWait => Self::One,
            K::Join | K::BarrierLeave | K::FutexResume => Self::Order,
            K::Await | K::SignalWait | K::Io | K::Timeout => Self::Unknown,
            _ => Self::Nothing,
        }
    }
}

/// A thread, the position at which it took a lock, and whether for writing.
type Hold = (ThreadName, u32, bool);

/// Who holds a lock after some events on it.
#[derive(Clone, Debug, Default)]
pub(super) struct Holders {
    held: Vec<Hold>,
    /// The once-initialiser has run.
    done: bool,
}

impl Holders {
    /// After these events, each with its position.
    pub(super) fn after<'e>(events: impl Iterator<Item = (u32, &'e Recorded)>) -> Self {
        let mut holders = Self::default();
        events.for_each(|(position, event)| holders.take_in(position, event));
        holders
    }

    fn take_in(&mut self, position: u32, event: &Recorded) {
        use OpKind as K;
        let thread = event.id.thread;
        let modes: SmallVec<[Mode; 2]> = event.did.accesses.iter().map(|access| access.mode).collect();
        let wrote = modes.contains(&Mode::Write);
        match event.op.kind {
            K::Lock | K::Reacquire | K::WriteLock => self.held.push((thread, position, true)),
            K::TryLock | K::TryWriteLock if wrote => self.held.push((thread, position, true)),
            K::Once if !self.done && wrote => self.held.push((thread, position, true)),
            K::ReadLock => self.held.push((thread, position, false)),
            K::TryReadLock if modes.contains(&Mode::Share) => self.held.push((thread, position, false)),
            K::OnceDone => {
                self.held.clear();
                self.done = true;
            }
            K::Init | K::Destroy => *self = Self::default(),
            K::Unlock | K::CondWait | K::ReadUnlock | K::WriteUnlock => {
                if let Some(at) = self.held.iter().rposition(|(holder, ..)| *holder == thread) {
                    self.held.remove(at);
                }
            }
            _ => {}
        }
    }

    /// Whether a thread that has this need can have the lock. `had` says that it was seen to have it, perhaps on top of its
    /// own hold.
    pub(super) fn let_go(&self, thread: ThreadName, need: Need, had: bool) -> Can {
        let (own, others): (Vec<&Hold>, Vec<&Hold>) =
            self.held.iter().partition(|(holder, ..)| *holder == thread);
        if !own.is_empty() && !had {
            return Can::No;
        }
        let in_the_way = others.into_iter().filter(|(_, _, writes)| *writes || need == Need::Free);
        let positions: Vec<u32> = in_the_way.map(|&(_, position, _)| position).collect();
        if positions.is_empty() { Can::Yes } else { Can::Without(positions) }
    }
}
