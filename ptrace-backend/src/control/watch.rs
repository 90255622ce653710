//! The watchdog: ends an execution that does not come to its next key point, and everything when the user cancels; keeps
//! floods of output out of memory.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::os::kick::Kickable;
use crate::target::streams::Streams;

/// How often the watchdog looks.
const TICK: Duration = Duration::from_millis(10);

/// No execution is running.
const IDLE: u64 = u64::MAX;

/// Why an execution may not go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reason {
    TimedOut,
    Cancelled,
}

/// State shared between the tracer thread and its watchdog thread.
struct State {
    started: Instant,
    /// When the running execution has to be at its next key point, in microseconds since `started`, or [`IDLE`].
    deadline: AtomicU64,
    cancel: Arc<AtomicBool>,
    over: AtomicBool,
    limit: Duration,
}

impl State {
    fn expired(&self) -> Option<Reason> {
        let deadline = self.deadline.load(Ordering::Relaxed);
        if deadline == IDLE {
            return None;
        }
        if self.cancel.load(Ordering::Relaxed) {
            return Some(Reason::Cancelled);
        }
        (self.started.elapsed().as_micros() as u64 > deadline).then_some(Reason::TimedOut)
    }
}

/// A watchdog for the thread that created it.
pub(crate) struct Watch {
    state: Arc<State>,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    /// Starts watching the calling thread, which must be the one that issues the ptrace requests, and must outlive the
    /// result.
    pub(crate) fn start(
        limit: Duration,
        cancel: Arc<AtomicBool>,
        streams: Arc<Streams>,
    ) -> std::io::Result<Self> {
        let tracer = Kickable::current()?;
        let state = Arc::new(State {
            started: Instant::now(),
            deadline: AtomicU64::new(IDLE),
            cancel,
            over: AtomicBool::new(false),
            limit,
        });
        let watched = Arc::clone(&state);
        let thread = std::thread::Builder::new().name("watchdog".to_owned()).spawn(move || {
            while !watched.over.load(Ordering::Relaxed) {
                std::thread::park_timeout(TICK);
                streams.relieve();
                // Again and again: a kick that comes just before the wait begins is lost.
                if watched.expired().is_some() {
                    tracer.kick();
                }
            }
        })?;
        Ok(Self { state, thread: Some(thread) })
    }

    /// Something is about to run to its next key point. The time of a whole execution is no limit: on a busy machine a
    /// replay takes longer than what it replays, and would be cut where that went on.
    pub(crate) fn begin(&self) {
        let deadline = self.state.started.elapsed() + self.state.limit;
        self.state.deadline.store(deadline.as_micros() as u64, Ordering::Relaxed);
    }

    /// The execution is over.
    pub(crate) fn end(&self) {
        self.state.deadline.store(IDLE, Ordering::Relaxed);
    }

    /// Why the running execution may not go on, if so.
    pub(crate) fn expired(&self) -> Option<Reason> {
        self.state.expired()
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
