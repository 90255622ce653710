//! Timers of the program, on the virtual clock.

use checker::names::{Site, ThreadName};

use crate::control::state::thread_index::ThreadIndex;
use crate::os::timer::Counter;

/// A timer that the program has made.
#[derive(Debug)]
pub(crate) struct Timer {
    /// Its name as an agent.
    pub(crate) name: ThreadName,
    pub(crate) id: TimerId,
    pub(crate) does: Expiry,
    /// The time of its next expiry, in nanoseconds of virtual time; `None` while it is not set.
    pub(crate) due: Option<u64>,
    /// The time from one expiry to the next; 0: it does not expire again.
    pub(crate) interval: u64,
    /// The place in the code that set it last.
    pub(crate) site: Site,
    /// The number of its expiries while its signal was pending.
    pub(crate) overrun: i32,
    /// The number of events that it has run.
    pub(crate) events: u32,
    /// The times since which each of them could run, in nanoseconds of virtual time.
    pub(crate) begun: Vec<u64>,
    /// Its clock.
    pub(crate) now: u64,
    /// The number of events that threads had run when it expired last.
    pub(crate) expired_at: Option<u64>,
    /// The number of threads when it was made.
    pub(crate) threads: usize,
}

/// The identity of a timer, as the program knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TimerId {
    /// The one of `alarm` and `setitimer`.
    RealTime,
    /// One that `timer_create` has made.
    Made(i32),
    /// A file, by the number of those that were made before.
    File(usize),
}

/// The effect of an expiry.
#[derive(Debug)]
pub(crate) enum Expiry {
    /// No effect that any thread waits for.
    Nothing,
    /// Sends a signal with a value, to a thread or whichever takes it.
    Signal { to: Option<ThreadIndex>, signal: i32, value: u64 },
    /// Counts in the file that has this descriptor at first.
    Count { descriptor: i32, counter: Counter },
}

impl Timer {
    pub(crate) fn new(name: ThreadName, id: TimerId, does: Expiry, threads: usize) -> Self {
        Self {
            name,
            id,
            does,
            due: None,
            interval: 0,
            site: Site::default(),
            overrun: 0,
            events: 0,
            begun: Vec::new(),
            now: 0,
            expired_at: None,
            threads,
        }
    }

    /// The time of its next expiry, if a thread could come upon that.
    pub(crate) fn awaited(&self) -> Option<u64> {
        self.due.filter(|_| !matches!(self.does, Expiry::Nothing))
    }
}
