//! The threads of an execution, and its time.

use std::sync::Arc;

use checker::failure::Failure;
use checker::failure::FailureDetail;
use checker::failure::FailureKind;
use checker::names::Site;

use crate::control::state::client::Client;
use crate::control::state::lamport_clock::LamportClock;
use crate::control::state::thread::Thread;
use crate::control::state::thread_index::{PerThread, ThreadIndex};
use crate::control::state::timers::Timer;
use crate::spec::stalls::Stalls;

/// The threads of one execution, and its time.
pub(crate) struct Scheduling {
    /// In creation order.
    pub(crate) threads: PerThread<Thread>,
    /// Threads created in the current segment, whose own first segment is still to run.
    pub(crate) newborn: Vec<ThreadIndex>,
    /// In the order in which they were made.
    pub(crate) timers: Vec<Timer>,
    /// The client, if there is one.
    pub(crate) client: Option<Client>,
    /// The number of events that have run.
    pub(crate) events: u64,
    /// The number of accesses of memory among them.
    pub(crate) accesses: u64,
    /// The number of expirations of timers among them.
    pub(crate) expirations: u64,
    /// A thread has asked to end the process.
    pub(crate) exiting: bool,
    /// The longest time for which a deadline may let another thread stand still in this execution, in nanoseconds.
    pub(crate) max_stall: u64,
    pub(crate) stalls: Arc<Stalls>,
    /// Virtual time.
    pub(crate) times: LamportClock,
    /// The time for which processors have worked.
    pub(crate) processor_times: LamportClock,
}

impl Scheduling {
    /// The main thread alone, before its first instruction.
    pub(crate) fn new(main: Thread) -> Self {
        Self {
            threads: PerThread::new(main),
            newborn: Vec::new(),
            timers: Vec::new(),
            client: None,
            events: 0,
            accesses: 0,
            expirations: 0,
            exiting: false,
            max_stall: 0,
            stalls: Arc::default(),
            times: LamportClock::default(),
            processor_times: LamportClock::default(),
        }
    }

    /// Whether there is more than one thread that may still move: what one of them does others may find out.
    pub(crate) fn has_company(&self) -> bool {
        self.threads.iter().filter(|thread| thread.is_live()).count() > 1
    }
}

impl Scheduling {
    /// The number of events that have run and are no expirations of timers.
    pub(crate) fn moves(&self) -> u64 {
        self.events - self.expirations
    }

    /// Notes the time since which a thread could run, at its next event.
    pub(crate) fn note_begun(&mut self, index: ThreadIndex) {
        let thread = &mut self.threads[index];
        let since = thread.runnable_since.unwrap_or(0).max(thread.virtual_system.now);
        // The thread's clock goes on by then at the latest.
        let last = thread.begun.last().copied().unwrap_or(0);
        thread.begun.push(since.max(last));
    }

    /// A failure of one thread.
    pub(crate) fn failure(
        &self,
        index: ThreadIndex,
        kind: FailureKind,
        detail: FailureDetail,
        stack: Vec<Site>,
    ) -> Failure {
        Failure::of_thread(kind, detail, self.threads[index].name, stack)
    }
}
