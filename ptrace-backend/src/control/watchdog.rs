//! The watchdog: says when the code that runs may not go on, and ends the wait for it; keeps floods of output out of memory.
//!
//! Every wait for a traced process goes through [`Watch::wait`], so that none of them outlasts the limit on everything
//! ([`Limit`]), or that on one thread.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use checker::limit::Limit;
use checker::program::ExecutionError;
use checker::search::StopRequest;

use crate::attention;
use crate::os::hand_off::{SharedPage, Woken};
use crate::os::own::interrupt_signal::InterruptibleThread;
use crate::os::wait::{self, WaitStatus};
use crate::os::{Tid, process};
use crate::target::streams::Streams;

/// The interval between two looks of the watchdog.
const TICK: Duration = Duration::from_millis(10);

/// Once the time for everything is up, what was found is still run again: but for nothing that takes so long may a thread run
/// to its next key point.
pub(crate) const GRACE: Duration = Duration::from_secs(1);

/// The time after which it is looked whether a thread goes round in a loop, and how often: an instruction of the loop has to be met.
const LOOK: Duration = Duration::from_millis(20);
const LOOKS: u32 = 16;

/// The time for which a thread may run to its next key point in an execution that counts for nothing.
const HURRIED: Duration = Duration::from_millis(300);

/// The number of a stretch while nothing runs.
const IDLE: u64 = 0;

/// The reason why the code that runs may not go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reason {
    /// It has had its time.
    TimedOut,
    /// The time for everything is up.
    OutOfTime,
    /// The user wants to stop.
    Cancelled,
    /// It has run for a moment, and is to be looked at ([`Watch::begin_looks`]).
    RunsLong,
}

impl Reason {
    /// Those for which it may go on no longer.
    const ALL: [Self; 3] = [Self::TimedOut, Self::OutOfTime, Self::Cancelled];

    /// The same as the end of an execution; nothing, where it is a matter of one thread.
    pub(crate) fn ends_everything(self) -> Option<ExecutionError> {
        match self {
            Self::TimedOut | Self::RunsLong => None,
            Self::OutOfTime => Some(ExecutionError::OutOfTime),
            Self::Cancelled => Some(ExecutionError::Cancelled),
        }
    }
}

/// State shared between the tracer thread and its watchdog thread.
struct WatchdogState {
    /// The number of the stretch that runs, from one key point to the next, or [`IDLE`].
    stretch: AtomicU64,
    /// The process that runs it, and the thread of it; 0 where other processes are waited for.
    process: AtomicI32,
    thread: AtomicI32,
    /// The number of a stretch that may not go on, and why: its place in [`Reason::ALL`].
    due: AtomicU64,
    /// The stretch whose thread is to be looked at now and then, or [`IDLE`].
    looked_at: AtomicU64,
    /// The number of looks at the thread of a stretch, and that stretch.
    looks: AtomicU32,
    looks_of: AtomicU64,
    /// A look is due.
    look_due: AtomicBool,
    limit: Limit,
    over: AtomicBool,
    time: Duration,
    /// Less time than that is left to threads, since what they do counts for nothing.
    hurries: AtomicBool,
}

impl WatchdogState {
    /// The body of the watchdog thread.
    fn watch(&self, tracer: InterruptibleThread, streams: &Streams) {
        let (mut stretch, mut began, mut used) = (IDLE, Instant::now(), None);
        while !self.over.load(Ordering::Relaxed) {
            std::thread::park_timeout(TICK);
            streams.relieve();
            let now = self.stretch.load(Ordering::Acquire);
            if now == IDLE {
                continue;
            }
            if now != stretch {
                (stretch, began, used) = (now, Instant::now(), self.used());
            }
            // Again and again: a signal that comes just before the wait begins is lost.
            if let Some(reason) = self.reason(began, used) {
                let place = Reason::ALL.iter().position(|&each| each == reason).unwrap_or_default();
                self.due.store(stretch * Reason::ALL.len() as u64 + place as u64, Ordering::Release);
                tracer.interrupt();
            } else if self.looked_at.load(Ordering::Acquire) == stretch {
                let looks = self.looks.load(Ordering::Relaxed);
                if looks < LOOKS && began.elapsed() >= LOOK * (looks + 1) {
                    self.look_due.store(true, Ordering::Release);
                    tracer.interrupt();
                }
            }
        }
    }

    /// The reason why a stretch may not go on that began then, when the process had used so much of a processor's time.
    fn reason(&self, began: Instant, used: Option<Duration>) -> Option<Reason> {
        let lasted = began.elapsed();
        let is_late = || lasted >= self.time() && self.has_had_its_time(used);
        match self.limit.look() {
            // A process that has been ended is gone by then, or not soon.
            _ if self.waits_for_others() && is_late() => Some(Reason::TimedOut),
            StopRequest::Cancelled => Some(Reason::Cancelled),
            StopRequest::BudgetSpent if lasted >= GRACE => Some(Reason::OutOfTime),
            _ => is_late().then_some(Reason::TimedOut),
        }
    }

    /// Whether the thread has had the processor for as long as it may, or waits for something. One that only waits for its
    /// turn on a busy machine, or for the tracer, is not to blame.
    fn has_had_its_time(&self, before: Option<Duration>) -> bool {
        let has_run = || Some(self.used()?.saturating_sub(before?) >= self.time());
        let wants_to_run = || process::wants_to_run(self.thread.load(Ordering::Relaxed));
        self.waits_for_others() || has_run().unwrap_or(true) || !wants_to_run()
    }

    fn time(&self) -> Duration {
        if self.hurries.load(Ordering::Relaxed) { self.time.min(HURRIED) } else { self.time }
    }

    fn waits_for_others(&self) -> bool {
        self.thread.load(Ordering::Relaxed) == 0
    }

    fn used(&self) -> Option<Duration> {
        process::processor_time(self.process.load(Ordering::Relaxed))
    }

    fn expired(&self) -> Option<Reason> {
        let due = self.due.load(Ordering::Acquire);
        let count = Reason::ALL.len() as u64;
        let is_this = due != IDLE && due / count == self.stretch.load(Ordering::Relaxed);
        is_this.then(|| Reason::ALL[(due % count) as usize])
    }
}

/// A watchdog for the thread that created it.
pub(crate) struct Watch {
    state: Arc<WatchdogState>,
    /// The number of the last stretch.
    last: AtomicU64,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    /// Starts watching the calling thread, which must be the one that issues the ptrace requests, and must outlive the
    /// result. `time` is how long a thread may run, and wait, from one key point to the next.
    pub(crate) fn start(time: Duration, limit: Limit, streams: Arc<Streams>) -> io::Result<Self> {
        let tracer = InterruptibleThread::current()?;
        let state = Arc::new(WatchdogState {
            stretch: AtomicU64::new(IDLE),
            process: AtomicI32::new(0),
            thread: AtomicI32::new(0),
            due: AtomicU64::new(IDLE),
            looked_at: AtomicU64::new(IDLE),
            looks: AtomicU32::new(0),
            looks_of: AtomicU64::new(IDLE),
            look_due: AtomicBool::new(false),
            limit,
            over: AtomicBool::new(false),
            time,
            hurries: AtomicBool::new(false),
        });
        let watched = Arc::clone(&state);
        let thread = std::thread::Builder::new().name("watchdog".to_owned());
        let thread = thread.spawn(move || watched.watch(tracer, &streams))?;
        Ok(Self { state, last: AtomicU64::new(IDLE), thread: Some(thread) })
    }

    /// This thread of this process is about to run to its next key point. The time of a whole execution is no limit: on a busy
    /// machine a replay takes longer than what it replays, and would be cut where that went on.
    pub(crate) fn begin(&self, process: Tid, thread: Tid) {
        self.state.process.store(process, Ordering::Relaxed);
        self.state.thread.store(thread, Ordering::Relaxed);
        self.begin_next();
    }

    /// The time for which a thread may run, and wait, from one key point to the next.
    pub(crate) fn time(&self) -> Duration {
        self.state.time
    }

    /// Whether what runs from now on has less time than that: it counts for nothing.
    pub(crate) fn hurry(&self, hurries: bool) {
        self.state.hurries.store(hurries, Ordering::Relaxed);
    }

    /// Other processes are about to be waited for.
    pub(crate) fn begin_wait(&self) {
        self.state.thread.store(0, Ordering::Relaxed);
        self.begin_next();
    }

    fn begin_next(&self) {
        let next = self.last.fetch_add(1, Ordering::Relaxed) + 1;
        self.state.stretch.store(next, Ordering::Release);
    }

    /// The execution is over.
    pub(crate) fn end(&self) {
        self.state.stretch.store(IDLE, Ordering::Relaxed);
    }

    /// From now on, and until [`Watch::end_looks`], waits end for [`Reason::RunsLong`] as well, where what runs has not stopped for a moment.
    pub(crate) fn begin_looks(&self) {
        let stretch = self.state.stretch.load(Ordering::Relaxed);
        if self.state.looks_of.swap(stretch, Ordering::Relaxed) != stretch {
            self.state.looks.store(0, Ordering::Relaxed);
            self.state.look_due.store(false, Ordering::Relaxed);
        }
        self.state.looked_at.store(stretch, Ordering::Release);
    }

    /// Waits end for no look any more.
    pub(crate) fn end_looks(&self) {
        self.state.looked_at.store(IDLE, Ordering::Release);
    }

    /// A look at what runs has shown nothing; `for_good`: no other one will.
    pub(crate) fn looked(&self, for_good: bool) {
        let looks = if for_good { LOOKS } else { self.state.looks.load(Ordering::Relaxed) + 1 };
        self.state.looks.store(looks, Ordering::Relaxed);
        self.state.look_due.store(false, Ordering::Release);
    }

    /// The reason for which the wait for what runs ends.
    fn ended(&self) -> Option<Reason> {
        let is_due = || {
            let looked_at = self.state.looked_at.load(Ordering::Relaxed);
            looked_at != IDLE && self.state.look_due.load(Ordering::Acquire)
        };
        self.expired().or_else(|| is_due().then_some(Reason::RunsLong))
    }

    /// The reason why the code that runs may not go on, if there is one.
    pub(crate) fn expired(&self) -> Option<Reason> {
        attention::look();
        self.state.expired()
    }

    /// Whether the search is to end, however long the stretch has lasted.
    pub(crate) fn is_search_over(&self) -> bool {
        matches!(self.state.limit.look(), StopRequest::BudgetSpent | StopRequest::Cancelled)
    }

    /// The end of an execution that goes on although the search is to end, if it is.
    pub(crate) fn end_of_search(&self) -> Option<ExecutionError> {
        match self.state.limit.look() {
            StopRequest::Cancelled => Some(ExecutionError::Cancelled),
            StopRequest::BudgetSpent => Some(ExecutionError::OutOfTime),
            StopRequest::Continue | StopRequest::HalfSpent => None,
        }
    }

    /// Waits until this tracee reports something, or, without one, whichever tracee of this thread does so next; or until what
    /// runs may not go on for a reason that matters. All but those that are expected to report must stand still.
    pub(crate) fn wait(
        &self,
        tid: Option<Tid>,
        matters: impl Fn(Reason) -> bool,
    ) -> io::Result<Result<(Tid, WaitStatus), Reason>> {
        loop {
            if let Some(reason) = self.ended().filter(|&reason| matters(reason)) {
                return Ok(Err(reason));
            }
            let heard = match tid {
                Some(tid) => wait::one(tid).map(|status| (tid, status)),
                None => wait::any(),
            };
            match heard {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                heard => return heard.map(Ok),
            }
        }
    }
}

impl Watch {
    /// Waits until this tracee, which runs, reports something or hands itself over, or until it may not go on for a reason that matters.
    /// All others must stand still.
    pub(crate) fn wait_for_either(
        &self,
        tid: Tid,
        page: &SharedPage,
        matters: impl Fn(Reason) -> bool,
    ) -> io::Result<Result<WaitStatus, Reason>> {
        loop {
            if let Some(reason) = self.ended().filter(|&reason| matters(reason)) {
                return Ok(Err(reason));
            }
            if page.wait() == Woken::HandedOver {
                return Ok(Ok(WaitStatus::HandedOver));
            }
            if let Some(status) = wait::now(tid)? {
                return Ok(Ok(status));
            }
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.state.over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _ = thread.join();
        }
    }
}
