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
    /// When it expires next, in nanoseconds of virtual time; `None` while it is not set.
    pub(crate) due: Option<u64>,
    /// After how long it expires again; 0: not at all.
    pub(crate) interval: u64,
    /// Where it was set last.
    pub(crate) site: Site,
    /// How often it expired while its signal was pending.
    pub(crate) overrun: i32,
    /// How many events it has run.
    pub(crate) events: u32,
    /// Since when each of them could run, in nanoseconds of virtual time.
    pub(crate) begun: Vec<u64>,
    /// Its clock.
    pub(crate) now: u64,
    /// How many events threads had run when it expired last.
    pub(crate) expired_at: Option<u64>,
    /// How many threads there were when it was made.
    pub(crate) threads: usize,
}

/// How the program knows a timer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TimerId {
    /// The one of `alarm` and `setitimer`.
    RealTime,
    /// One that `timer_create` has made.
    Made(i32),
    /// A file: how many were made before.
    File(usize),
}

/// The effect of an expiry.
#[derive(Debug)]
pub(crate) enum Expiry {
    /// Nothing that anybody waits for.
    Nothing,
    /// Sends a signal with a value, to a thread or whichever takes it.
    Signal { to: Option<ThreadIndex>, signal: i32, value: u64 },
    /// Counts in the file that has this descriptor at first.
    Count { descriptor: i32, counter: Option<Counter> },
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

    /// When it expires next, if anybody could come upon that.
    pub(crate) fn awaited(&self) -> Option<u64> {
        self.due.filter(|_| !matches!(self.does, Expiry::Nothing))
    }
}
