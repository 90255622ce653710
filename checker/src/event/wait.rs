//! The causes for which a thread is blocked.

use super::names::{Obj, ThreadName};

/// The cause for which a thread is blocked: what it waits for.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum BlockedOn {
    /// A mutex or spin lock, and its holder, if that is known.
    Mutex {
        /// The lock.
        obj: Obj,
        /// The thread that holds it.
        owner: Option<ThreadName>,
    },
    /// A read-write lock, for reading.
    Read(Obj),
    /// A read-write lock, for writing.
    Write(Obj),
    /// A signal on a condition variable.
    Cond(Obj),
    /// A semaphore that is 0.
    Sem(Obj),
    /// The others of a barrier's generation.
    Barrier {
        /// The barrier.
        obj: Obj,
        /// The number of the round.
        generation: u32,
    },
    /// The end of a thread.
    Join(ThreadName),
    /// A raw futex wake.
    Futex(Obj),
    /// A change to one of the locations that its spin loop reads.
    Await(Vec<Obj>),
    /// A once-initialiser that another thread runs.
    Once(Obj),
    /// A test: the thread belongs to the harness that runs it, and takes no part.
    Test,
    /// Input that is not there yet, at one of these file descriptors; of a client, which has none of the program's: the program.
    Input(Vec<i32>),
    /// Room for output, at one of these file descriptors.
    Output(Vec<i32>),
    /// Input that can come from outside of the program: a connection, a datagram, a line on a terminal.
    Outside(Vec<i32>),
    /// A message in a queue.
    Message(Obj),
    /// Room for a message in a queue.
    Room(Obj),
    /// A signal of the operating system.
    Arrival,
    /// An action of another process, which is not scheduled: a signal, or a write to memory that it has in common with the
    /// program.
    Process,
    /// A time that has not come: a sleep, or the end of a timed wait, that would stall these threads, which can run, for too long.
    Time(Vec<ThreadName>),
}

impl BlockedOn {
    /// The thread that alone can end the wait, if that is known.
    #[must_use]
    pub const fn thread(&self) -> Option<ThreadName> {
        match self {
            Self::Mutex { owner, .. } => *owner,
            Self::Join(thread) => Some(*thread),
            _ => None,
        }
    }
}
