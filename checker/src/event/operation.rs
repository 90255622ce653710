//! Operations, what they do to objects, and the dependency relation.

use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use super::names::{Obj, ThreadName};

/// The highest number of yields in a row that searches tell apart.
pub(crate) const MOST_YIELDS: u32 = 0b1111;

/// The kind of operation that a thread is about to run, or ran.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OpKind {
    /// Reads memory.
    Read,
    /// Writes memory.
    Write,
    /// Reads and writes memory in one indivisible step (a `lock`ed instruction, `xchg`).
    Update,
    /// An indivisible compare-and-swap: writes if it succeeds, else reads.
    CompareExchange,
    /// Takes a mutex or a spin lock; enabled while it can be had.
    Lock,
    /// Takes a mutex if it is free, else only looks.
    TryLock,
    /// Releases a mutex or a spin lock.
    Unlock,
    /// The first half of a condition wait: releases the mutex and enqueues.
    CondWait,
    /// The second half: takes the mutex again after the wake-up or the time-out.
    Reacquire,
    /// Wakes one waiter of a condition variable, if there is one.
    Signal,
    /// Wakes every waiter of a condition variable.
    Broadcast,
    /// Takes one from a semaphore; enabled while its value is above 0.
    SemWait,
    /// Takes one from a semaphore if there is one, else only looks.
    SemTryWait,
    /// Adds one to a semaphore.
    SemPost,
    /// Takes a read-write lock for reading.
    ReadLock,
    /// Takes a read-write lock for reading if that is possible, else only looks.
    TryReadLock,
    /// Takes a read-write lock for writing.
    WriteLock,
    /// Takes a read-write lock for writing if that is possible, else only looks.
    TryWriteLock,
    /// Releases a read-write lock held for reading.
    ReadUnlock,
    /// Releases a read-write lock held for writing.
    WriteUnlock,
    /// The first half of a barrier wait.
    BarrierArrive,
    /// The second half: goes on once all have arrived.
    BarrierLeave,
    /// Enters a once-initialisation: runs the initialiser or passes because it has run.
    Once,
    /// The end of a once-initialiser.
    OnceDone,
    /// Initialises a synchronisation object.
    Init,
    /// Destroys a synchronisation object.
    Destroy,
    /// Frees a block of memory: conflicts with every other use of it.
    Free,
    /// Creates a thread.
    Create,
    /// Waits for a thread to end; enabled when it has.
    Join,
    /// A raw futex wait that found its word unchanged and sleeps.
    FutexWait,
    /// The first operation of a thread after a raw futex wake-up.
    FutexResume,
    /// A raw futex wake.
    FutexWake,
    /// The read that ends a spin loop; enabled when a location that the loop reads has changed.
    Await,
    /// Gives way to the other threads (`sched_yield`, `pause`).
    Yield,
    /// Sleeps on the virtual clock; for the search this gives way like [`OpKind::Yield`].
    Sleep,
    /// Gives way where its code says nothing of that, having looked at the same for long: others go first from the next time on.
    SliceEnd,
    /// A timed wait runs out of time. The event belongs to the waiting thread.
    Timeout,
    /// Makes, sets, stops or asks a timer of the virtual clock.
    SetTimer,
    /// A timer expires, which is an event of its own agent; for the search this gives way like [`OpKind::Sleep`].
    Expire,
    /// A system call on something that threads or processes share (pipe, socket …).
    Io,
    /// Sends a signal, or interrupts a wait because one was sent.
    Kill,
    /// Waits for a signal.
    SignalWait,
    /// Looks whether the thread is cancelled.
    CancelPoint,
    /// The thread ends, in a program that asks for that.
    ThreadEnd,
    /// Asks whether a thread has ended, and does not wait for it.
    AskForEnd,
    /// Ends the process.
    Exit,
    /// The client of the program is started, and runs to its first operation.
    StartClient,
    /// The client has ended, and the program is asked to end.
    AskToEnd,
}

impl OpKind {
    /// Whether it is an access of memory, and so a key point only once that memory is known to be shared.
    #[must_use]
    pub const fn is_access(self) -> bool {
        matches!(self, Self::Read | Self::Write | Self::Update | Self::CompareExchange | Self::Await)
    }

    /// Whether it synchronises by itself: everything but loads and stores, and the freeing of memory.
    #[must_use]
    pub const fn synchronises(self) -> bool {
        !self.is_load_or_store() && !matches!(self, Self::Free)
    }

    /// Whether it is a load or a store.
    #[must_use]
    pub const fn is_load_or_store(self) -> bool {
        matches!(self, Self::Read | Self::Write)
    }

    /// Whether an agent may begin by it: the one that is its peer.
    #[must_use]
    pub const fn creates(self) -> bool {
        matches!(self, Self::Create | Self::SetTimer)
    }

    /// Whether the thread gives way to others.
    #[must_use]
    pub fn gives_way(self) -> bool {
        self.yields() > 0
    }

    /// The number of yields in a row that it counts as.
    pub(crate) fn yields(self) -> u32 {
        match self {
            Self::Yield | Self::Sleep | Self::Expire => 1,
            // Each slice takes hundreds of events.
            Self::SliceEnd => MOST_YIELDS,
            _ => 0,
        }
    }
}

/// The way in which an operation touches an object; see [`Mode::conflicts`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Leaves it as it is. Also: failed trylock, failed compare-and-swap, enqueueing on a condition variable.
    Read,
    /// Takes a read lock, or releases it: commutes with others that do, but not with a failed attempt to write-lock.
    Share,
    /// Changes it. Also: lock, unlock, signal, semaphore operations, write lock and write unlock.
    Write,
    /// Arrives at a barrier in this generation.
    Arrive(u32),
    /// Leaves a barrier in this generation.
    Leave(u32),
}

impl Mode {
    /// Whether an object that is touched this way is the same as before to any thread that reads its memory.
    #[must_use]
    pub const fn leaves_as_it_is(self) -> bool {
        matches!(self, Self::Read | Self::Share)
    }

    /// Whether two operations that touch one object this way do not commute.
    ///
    /// Reads commute. Barrier arrivals of one generation commute, and so do departures; a departure comes after every
    /// arrival of its generation, and so does every arrival of the next: which threads make up a generation depends on
    /// the order in which they come.
    #[must_use]
    pub fn conflicts(self, other: Self) -> bool {
        use Mode::{Arrive, Leave, Read, Share, Write};
        match (self, other) {
            (Write, _) | (_, Write) => true,
            (Arrive(a), Leave(b)) | (Leave(a), Arrive(b)) => a == b,
            (Arrive(a), Arrive(b)) => a != b,
            (Read, Share) | (Share, Read) => true,
            (Read | Share | Arrive(_) | Leave(_), _) => false,
        }
    }
}

/// One object that an operation touches, and how.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Access {
    /// The object that is touched.
    pub obj: Obj,
    /// The way in which it is touched.
    pub mode: Mode,
}

impl Access {
    /// A touch that leaves `obj` as it is.
    #[must_use]
    pub const fn read(obj: Obj) -> Self {
        Self { obj, mode: Mode::Read }
    }

    /// A touch that shares `obj` with others that do.
    #[must_use]
    pub const fn share(obj: Obj) -> Self {
        Self { obj, mode: Mode::Share }
    }

    /// A touch that changes `obj`.
    #[must_use]
    pub const fn write(obj: Obj) -> Self {
        Self { obj, mode: Mode::Write }
    }
}

/// All that an operation does to objects, or may do.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub struct Effect {
    /// Every object touched.
    pub accesses: SmallVec<[Access; 2]>,
    /// Conflicts with every event of every thread: it ends the process where the process could not be held.
    pub ends_process: bool,
}

impl Effect {
    /// An effect on the objects given.
    #[must_use]
    pub fn on(accesses: impl IntoIterator<Item = Access>) -> Self {
        Self { accesses: accesses.into_iter().collect(), ends_process: false }
    }

    /// Whether the two do not commute: they touch one location in conflicting modes, or one ends the process.
    #[must_use]
    pub fn conflicts(&self, other: &Self) -> bool {
        self.ends_process
            || other.ends_process
            || self
                .accesses
                .iter()
                .any(|a| other.accesses.iter().any(|b| a.obj.overlaps(&b.obj) && a.mode.conflicts(b.mode)))
    }
}

/// The next operation of a thread, known before it runs.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Op {
    /// The kind of operation.
    pub kind: OpKind,
    /// The thread that is joined; before a creation it is `None`.
    pub peer: Option<ThreadName>,
    /// The possible effect: a superset of what the event will have done.
    pub may: Effect,
    /// For a wait for a lock or the like that has a time limit: what the running out of its time does instead. A wait for a
    /// signal has none: its time can run out from its beginning on, and is an agent then.
    pub limit: Option<Effect>,
    /// The atomicity that the source gives to an access of memory, as far as it is known.
    pub atomicity: Atomicity,
    /// Whether other threads may find it half done.
    pub divisibility: Divisibility,
}

/// Whether other threads may find an operation half done, as processors and the kernel carry it out.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Divisibility {
    /// Others find it done or not done.
    #[default]
    Indivisible,
    /// It has several steps: others may find it half done.
    Divisible,
    /// Others may find memory of more than one byte half read or half written. For all else that it touches it is one step.
    DivisibleInMemory,
}

impl Divisibility {
    /// Several steps, if that is so, or one.
    #[must_use]
    pub const fn divisible_if(is_so: bool) -> Self {
        if is_so { Self::Divisible } else { Self::Indivisible }
    }
}

/// The atomicity that the source gives to an access of memory. An instruction does not show it: on x86 an atomic load is a load
/// like others.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Atomicity {
    /// It is not atomic.
    #[default]
    Plain,
    /// It cannot be told.
    Unknown,
    /// It is atomic.
    Atomic,
}

impl Op {
    /// An operation on the objects given.
    #[must_use]
    pub fn new(kind: OpKind, accesses: impl IntoIterator<Item = Access>) -> Self {
        Self {
            kind,
            peer: None,
            may: Effect::on(accesses),
            limit: None,
            atomicity: Atomicity::Plain,
            divisibility: Divisibility::Indivisible,
        }
    }
}
