//! Failures: all that can go wrong in an execution.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::names::{Obj, Site, ThreadName};
use super::wait::BlockedOn;

/// The kind of a failure, as it is written in reports.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FailureKind {
    /// `assert` or `abort`.
    Assertion,
    /// A Rust panic of an execution that then failed.
    Panic,
    /// A fatal signal.
    Crash,
    /// The program ended with another exit code than 0.
    ExitCode,
    /// No thread can move, and one at least has not finished.
    Deadlock,
    /// Like [`FailureKind::Deadlock`], but a timed wait would end it: in what was saved before such waits counted as meant.
    DeadlockButTimeouts,
    /// Every thread that has not finished spins or is blocked, and one at least spins.
    Livelock,
    /// A mutex was released by a thread that did not hold it.
    UnlockNotHeld,
    /// A synchronisation object was destroyed while it was held or waited for.
    DestroyedWhileHeld,
    /// A synchronisation object was used after it had been destroyed.
    UseAfterDestroy,
    /// A block that had been freed was used.
    UseAfterFree,
    /// A block that had been freed was freed again.
    DoubleFree,
    /// A thread has not come to its next key point for as long as it may run. That is how a backend tells of it; it is no failure
    /// of the program, and no search reports it.
    Timeout,
    /// The client of the program has ended with another exit code than 0, or by a signal.
    Client,
    /// The program fails in every schedule, or in all that were run: see `search::AlwaysFailsEvidence`.
    AlwaysFails,
}

/// A failure, with where it happened. Sites are innermost first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// The kind of failure.
    pub kind: FailureKind,
    /// Its circumstances.
    pub detail: FailureDetail,
    /// The thread that failed, if one did.
    pub thread: Option<ThreadName>,
    /// The failing thread's stack, innermost frame first; may be empty.
    pub stack: Vec<Site>,
    /// Threads that take part (the blocked ones of a deadlock), each with its stack.
    pub others: Vec<Party>,
    /// The code that made the program fail, where that is over by the time it does; see
    /// [`Program::attribute`](crate::program::Program::attribute).
    pub line: Option<Line>,
}

impl Failure {
    /// A failure of no thread in particular; these take part.
    #[must_use]
    pub const fn of_several(kind: FailureKind, detail: FailureDetail, others: Vec<Party>) -> Self {
        Self { kind, detail, thread: None, stack: Vec::new(), others, line: None }
    }

    /// A failure of one thread, with its stack.
    #[must_use]
    pub const fn of_thread(
        kind: FailureKind,
        detail: FailureDetail,
        thread: ThreadName,
        stack: Vec<Site>,
    ) -> Self {
        Self { kind, detail, thread: Some(thread), stack, others: Vec::new(), line: None }
    }
}

/// The circumstances of a failure. Only [`FailureDetail::Said`], [`FailureDetail::Panicked`] and
/// [`FailureDetail::ClientExited`] hold text, which is the program's own, or the client's.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FailureDetail {
    /// The last words of the program, such as those of `assert`.
    Said(String),
    /// A Rust panic, with its message if there is one.
    Panicked(Option<String>),
    /// `abort`, without a word.
    Aborted,
    /// A fatal signal.
    Signal {
        /// Its name, such as `SIGSEGV`.
        signal: String,
        /// Its origin.
        origin: SignalOrigin,
    },
    /// The process ended with this exit code.
    ExitCode(i32),
    /// The program by which the process had replaced itself (`exec`) ended with this exit code.
    ExitCodeOfReplacement(i32),
    /// The client of the program ended with this exit code; with the last line of its standard error, if there is one.
    ClientExited(i32, Option<String>),
    /// A signal of this name, such as `SIGSEGV`, ended the client of the program.
    ClientKilled(String),
    /// A mutex was unlocked by a thread that did not hold it.
    UnlockedNotHeld {
        /// The mutex.
        mutex: Obj,
        /// Its holder.
        holder: Option<ThreadName>,
    },
    /// A mutex was destroyed while a thread held it.
    DestroyedHeld {
        /// The mutex.
        mutex: Obj,
        /// Its holder.
        holder: ThreadName,
    },
    /// A condition variable was destroyed while a thread waited at it.
    DestroyedWaitedFor {
        /// The condition variable.
        condition: Obj,
        /// The waiting thread.
        waiter: ThreadName,
    },
    /// A synchronisation object was used after it had been destroyed.
    UsedDestroyed {
        /// The object.
        object: Obj,
        /// The thread that destroyed it, if that was seen.
        destroyed_by: Option<ThreadName>,
    },
    /// A freed block was used.
    UsedFreed {
        /// The bytes that were used.
        block: Obj,
        /// The thread that freed it.
        freed_by: ThreadName,
    },
    /// A freed block was freed again.
    FreedTwice {
        /// The block.
        block: Obj,
        /// The thread that freed it first.
        freed_by: ThreadName,
    },
    /// No thread can move, since a signal came while no thread waited for it.
    LostWakeUp {
        /// The waiting thread.
        waiter: ThreadName,
        /// The condition variable.
        condition: Obj,
        /// The signalling thread.
        signaller: ThreadName,
    },
    /// No thread can move, and these threads each wait for the next one; one alone waits for itself.
    Circle(Vec<ThreadName>),
    /// No thread can move.
    Standstill,
    /// Threads run on, and nothing changes any more.
    NothingChanges,
    /// The thread goes round in a loop that reads nothing that could change.
    GoesRound,
    /// The thread ran longer than the time limit without coming to a key point.
    NoKeyPoint,
    /// The thread waited longer than the time limit for another process.
    WaitedForProcess,
}

/// The origin of a fatal signal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SignalOrigin {
    /// An instruction touched memory at this address.
    Fault(u64),
    /// Another one: it ended the program.
    Sent,
    /// A timer of the program sent it.
    Timer,
    /// It ended the process from outside.
    Outside,
    /// The program sent it to itself.
    Itself,
}

impl SignalOrigin {
    /// Addresses below this are fields of what a null pointer points to.
    const FIRST_PAGE: u64 = 0x1000;

    /// Whether a null pointer was used.
    #[must_use]
    pub const fn is_null_pointer(self) -> bool {
        matches!(self, Self::Fault(address) if address < Self::FIRST_PAGE)
    }
}

/// A line of the source.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Line {
    /// The file, under one name in all executions.
    pub file: PathBuf,
    /// Its number, from 1.
    pub line: u32,
    /// The function that it belongs to, if that is known.
    pub function: Option<String>,
}

/// A thread that takes part in a failure.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Party {
    /// The thread.
    pub thread: ThreadName,
    /// Its part in the failure.
    pub doing: Doing,
    /// Its stack, innermost frame first; may be empty.
    pub stack: Vec<Site>,
}

/// The part of a thread in a failure.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Doing {
    /// It waits.
    Waits(BlockedOn),
    /// It gives way.
    Yields,
    /// It gives way again and again.
    YieldsForever,
    /// Its wait is interrupted by a signal again and again.
    InterruptedForever,
    /// It could go on.
    CouldGoOn,
    /// It has failed.
    Failed(Box<FailureDetail>),
    /// It has ended.
    Ended,
    /// It freed the block that the failure is about.
    Freed,
    /// It allocated the block that the failure is about.
    Allocated,
}
