//! The table of lock operations: what each kind of operation does to a mutex, a read-write lock, a semaphore or a
//! once-initialisation.
//!
//! Explanations and searches ask here which operations acquire, try, release and reset, so that all of them agree. An
//! operation that may fail shows in its event whether it did: a failed attempt only reads its lock.

use super::names::Obj;
use super::operation::{Access, Mode, OpKind};
use super::recorded::EventBody;

/// The way in which a lock is held.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Hold {
    /// A mutex, a spin lock, or a read-write lock held for writing.
    Exclusive,
    /// A read-write lock held for reading.
    Shared,
    /// One unit of a semaphore.
    Unit,
    /// The right to run the initialiser of a once-initialisation.
    Initialiser,
}

/// The effect of an operation on its lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LockAction {
    /// Waits until the lock can be had, and takes it.
    Acquire(Hold),
    /// Takes the lock if it can be had at once, else only reads it.
    TryAcquire(Hold),
    /// Gives it back.
    Release(Hold),
    /// Initialises or destroys it: no thread holds it any more.
    Reset,
}

impl LockAction {
    /// The hold that it takes, or tries to take.
    #[must_use]
    pub const fn acquires(self) -> Option<Hold> {
        match self {
            Self::Acquire(hold) | Self::TryAcquire(hold) => Some(hold),
            Self::Release(_) | Self::Reset => None,
        }
    }

    /// The hold that it gives back.
    #[must_use]
    pub const fn releases(self) -> Option<Hold> {
        match self {
            Self::Release(hold) => Some(hold),
            Self::Acquire(_) | Self::TryAcquire(_) | Self::Reset => None,
        }
    }
}

impl OpKind {
    /// The effect of an operation of this kind on its lock, if it has one.
    #[must_use]
    pub const fn lock_action(self) -> Option<LockAction> {
        use Hold::{Exclusive, Initialiser, Shared, Unit};
        use LockAction::{Acquire, Release, Reset, TryAcquire};
        Some(match self {
            Self::Lock | Self::Reacquire | Self::WriteLock => Acquire(Exclusive),
            Self::TryLock | Self::TryWriteLock => TryAcquire(Exclusive),
            // The first half of a wait gives back the mutex, and only reads the condition variable.
            Self::Unlock | Self::WriteUnlock | Self::CondWait => Release(Exclusive),
            Self::ReadLock => Acquire(Shared),
            Self::TryReadLock => TryAcquire(Shared),
            Self::ReadUnlock => Release(Shared),
            Self::SemWait => Acquire(Unit),
            Self::SemTryWait => TryAcquire(Unit),
            Self::SemPost => Release(Unit),
            Self::Once => Acquire(Initialiser),
            Self::OnceDone => Release(Initialiser),
            Self::Init | Self::Destroy => Reset,
            _ => return None,
        })
    }

    /// The hold that an operation of this kind takes, or tries to take.
    #[must_use]
    pub const fn acquires(self) -> Option<Hold> {
        match self.lock_action() {
            Some(action) => action.acquires(),
            None => None,
        }
    }

    /// Whether an agent that could not go before may be able to after such an event, or is to go first. `somebody_waits`:
    /// another thread waits for memory to change, so that a write may let it go, or stands at an operation with a time limit,
    /// so that its time may run out once another one has taken what it wants.
    #[must_use]
    pub const fn may_let_go(self, somebody_waits: bool) -> bool {
        match self {
            Self::Read | Self::Await | Self::Join | Self::Free | Self::CancelPoint => false,
            Self::Write | Self::Update | Self::CompareExchange => somebody_waits,
            _ => match self.acquires() {
                Some(Hold::Exclusive | Hold::Shared | Hold::Unit) => somebody_waits,
                Some(Hold::Initialiser) | None => true,
            },
        }
    }
}

impl EventBody {
    /// The effect of the event on a lock; `None` where it only read it.
    #[must_use]
    pub fn did_to(&self, lock: Obj) -> Option<LockAction> {
        let changes = |access: &Access| access.obj.overlaps(&lock) && access.mode != Mode::Read;
        self.op.kind.lock_action().filter(|_| self.did.accesses.iter().any(changes))
    }

    /// The hold that the event took; `None` for a failed attempt.
    #[must_use]
    pub fn acquired(&self) -> Option<Hold> {
        self.op.kind.acquires().filter(|_| !self.only_reads())
    }

    /// The hold that the event gave back.
    #[must_use]
    pub fn released(&self) -> Option<Hold> {
        self.op.kind.lock_action().and_then(LockAction::releases).filter(|_| !self.only_reads())
    }

    /// The hold that the event tried to take and did not get.
    #[must_use]
    pub fn failed_try(&self) -> Option<Hold> {
        match self.op.kind.lock_action() {
            Some(LockAction::TryAcquire(hold)) if self.only_reads() => Some(hold),
            _ => None,
        }
    }

    fn only_reads(&self) -> bool {
        self.did.accesses.iter().all(|access| access.mode == Mode::Read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::agent::OpOutcome;
    use crate::event::names::{ObjName, Site};
    use crate::event::operation::{Effect, Op};

    fn done(kind: OpKind, mode: Mode) -> EventBody {
        let access = Access { obj: Obj { name: ObjName(1), offset: 0, len: 1 }, mode };
        let op = Op::new(kind, [access]);
        EventBody { op, did: Effect::on([access]), outcome: OpOutcome::Only, site: Site(0) }
    }

    #[test]
    fn a_try_takes_what_the_waiting_operation_takes_or_nothing() {
        for (waits, tries, mode) in [
            (OpKind::Lock, OpKind::TryLock, Mode::Write),
            (OpKind::WriteLock, OpKind::TryWriteLock, Mode::Write),
            (OpKind::ReadLock, OpKind::TryReadLock, Mode::Share),
            (OpKind::SemWait, OpKind::SemTryWait, Mode::Write),
        ] {
            let hold = done(waits, mode).acquired();
            assert!(hold.is_some(), "{waits}");
            assert_eq!((done(tries, mode).acquired(), done(tries, mode).failed_try()), (hold, None));
            assert_eq!(
                (done(tries, Mode::Read).acquired(), done(tries, Mode::Read).failed_try()),
                (None, hold)
            );
        }
    }

    #[test]
    fn a_wait_for_a_signal_gives_back_its_mutex_and_reads_its_condition_variable() {
        let mut wait = done(OpKind::CondWait, Mode::Write);
        let mutex = wait.did.accesses[0].obj;
        let condition = Obj { name: ObjName(2), ..mutex };
        wait.did.accesses.push(Access::read(condition));
        assert_eq!(wait.released(), Some(Hold::Exclusive));
        assert_eq!(wait.did_to(mutex), Some(LockAction::Release(Hold::Exclusive)));
        assert_eq!(wait.did_to(condition), None);
    }
}
