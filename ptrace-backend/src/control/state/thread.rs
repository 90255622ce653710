//! One thread of the target.

use checker::failure::Failure;
use checker::names::{EventId, Obj, ThreadName};
use checker::operation::Effect;
use checker::operation::OpKind;
use smallvec::SmallVec;

use crate::control::state::clock_readings::ClockReadings;
use crate::control::state::memory::heap::AllocationInProgress;
use crate::control::state::memory::unwatched_uses::OpenCall;
use crate::control::state::pending::{Action, Pending};
use crate::control::state::spinning::SpinDetection;
use crate::control::state::thread_index::ThreadIndex;
use crate::control::state::time_slice::TimeSlices;
use crate::virtual_syscalls::VirtualSystem;

/// A thread that has yielded so often while another agent waited for a time polls.
const YIELDS_OF_POLLING: usize = 8;

/// A thread as the scheduler has it; what the kernel has of it is [`crate::control::tracee::Task`].
#[derive(Debug)]
pub(crate) struct Thread {
    pub(crate) name: ThreadName,
    pub(crate) run_state: RunState,
    /// The operation that it does next. `None` only while it runs, and once it has ended.
    pub(crate) pending: Option<Pending>,
    /// The number of threads that it has created.
    pub(crate) children: u16,
    /// The number of timers that it has made.
    pub(crate) timers: u16,
    /// The number of events that it has run.
    pub(crate) events: u32,
    pub(crate) virtual_system: VirtualSystem,
    /// The time since which it could run, in nanoseconds of virtual time; `None` where it cannot, or waits for a time.
    pub(crate) runnable_since: Option<u64>,
    /// The same for each of its events so far.
    pub(crate) begun: Vec<u64>,
    /// The files that it waits for, as they were when they were looked at last.
    pub(crate) files_seen: Option<FilesSeen>,
    /// The event that woke it, until its next event.
    pub(crate) woken_by: Option<EventId>,
    /// The next wait in the kernel is to end at once, for this reason.
    pub(crate) ends_wait: Option<WaitEnd>,
    pub(crate) spinning: SpinDetection,
    pub(crate) time_slices: TimeSlices,
    pub(crate) readings: ClockReadings,
    /// Its clock at each of its last yields, the oldest one first; 0: there were fewer.
    yields: [u64; YIELDS_OF_POLLING],
    /// The result of its condition wait if that runs out of time.
    pub(crate) timeout_result: u64,
    /// It is the one that its barrier tells so.
    pub(crate) serial: bool,
    /// It is inside a function of the allocator.
    pub(crate) allocating: Option<AllocationInProgress>,
    /// A signal is there whose handler it is to run.
    pub(crate) signalled: bool,
    /// The handler that it runs next is that of a signal which came to it from elsewhere, at no certain place of its own code.
    pub(crate) is_interrupted: bool,
    /// Since its last event its store buffer was emptied.
    pub(crate) drained: bool,
    /// The objects that its last event wrote.
    pub(crate) wrote: SmallVec<[Obj; 1]>,
    /// It is about to send this one a signal, which has been accounted for.
    pub(crate) kills: Option<ThreadIndex>,
    pub(crate) cancellation: Cancellation,
    /// The call on a stream that threads share in which it is.
    pub(crate) in_stream: Option<StreamCall>,
    /// The waits that signal handlers interrupt, to be taken up where they left off when the handlers return.
    pub(crate) interrupted: Vec<InterruptedWait>,
}

/// The state of the files that a thread waits for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FilesSeen {
    /// The moment of which it is, as [`Tracee::moment`](crate::control::tracee::Tracee::moment) counts.
    pub(crate) moment: u64,
    pub(crate) is_ready: bool,
    /// Whether nothing but what the program and its client do changes it, where that was asked for.
    pub(crate) is_own: Option<bool>,
    /// Whether one of them leads out of the program, where that was asked for.
    pub(crate) is_outside: Option<bool>,
}

/// A call on a stream that threads share, while it runs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StreamCall {
    pub(crate) stream: Obj,
    pub(crate) call: OpenCall,
}

/// The progress of a thread.
#[derive(Debug)]
pub(crate) enum RunState {
    /// It is at a key point.
    Live,
    /// It has failed, and is held where it did.
    Failed(Failure),
    /// It has asked to end the process, or has ended itself.
    Ended,
}

/// A reason that ends a thread's wait before its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Interrupt {
    /// A signal whose handler it is to run.
    Signal,
    /// `pthread_cancel`.
    Cancel,
}

/// The state of a thread's cancellation, as far as it is known.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Cancellation {
    /// It was asked for, and the thread has not acted upon it.
    pub(crate) requested: bool,
    /// The thread does not allow it now.
    pub(crate) disabled: bool,
    /// It takes effect anywhere, not at cancellation points alone.
    pub(crate) asynchronous: bool,
    /// It has taken effect: the thread unwinds its stack, and will not be cancelled again.
    pub(crate) acts: bool,
}

impl Cancellation {
    /// Whether it takes effect at the next cancellation point.
    pub(crate) fn is_due(self) -> bool {
        self.requested && self.is_possible()
    }

    /// Whether it would take effect there if it was asked for.
    pub(crate) fn is_possible(self) -> bool {
        !self.disabled && !self.acts
    }
}

/// A wait in a function, at whose entry the thread stands.
#[derive(Debug)]
pub(crate) struct InterruptedWait {
    pub(crate) pending: Pending,
    pub(crate) rip: u64,
    pub(crate) rsp: u64,
    /// Known once the handler that decides it has begun.
    pub(crate) outcome: Option<WaitOutcome>,
}

/// The consequence of a signal handler for the wait that it interrupts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WaitOutcome {
    GoesOn,
    /// The function fails (`EINTR`).
    Fails,
}

/// The reason for which a function's own body ends its wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WaitEnd {
    TimeOut,
    /// A signal; the semaphore at this address is then given back the value that the body was not to find.
    Signal {
        semaphore: u64,
        value: u32,
    },
}

impl Thread {
    /// A new thread, before its first instruction.
    pub(crate) fn new(name: ThreadName, virtual_system: VirtualSystem) -> Self {
        Self {
            name,
            run_state: RunState::Live,
            pending: None,
            children: 0,
            timers: 0,
            events: 0,
            virtual_system,
            runnable_since: None,
            begun: Vec::new(),
            files_seen: None,
            woken_by: None,
            ends_wait: None,
            spinning: SpinDetection::default(),
            time_slices: TimeSlices::default(),
            readings: ClockReadings::default(),
            yields: [0; YIELDS_OF_POLLING],
            timeout_result: 0,
            serial: false,
            allocating: None,
            signalled: false,
            is_interrupted: false,
            drained: false,
            wrote: SmallVec::new(),
            kills: None,
            in_stream: None,
            cancellation: Cancellation::default(),
            interrupted: Vec::new(),
        }
    }

    /// Whether it may still move.
    pub(crate) fn is_live(&self) -> bool {
        matches!(self.run_state, RunState::Live)
    }

    /// Its wait, and those that signal handlers have interrupted.
    pub(crate) fn waits(&mut self) -> impl Iterator<Item = &mut Pending> {
        self.pending.iter_mut().chain(self.interrupted.iter_mut().map(|wait| &mut wait.pending))
    }

    /// Takes note of an event for the question whether it waits in a loop.
    pub(crate) fn note_event(&mut self, kind: OpKind, did: &Effect) {
        let looks = match kind {
            OpKind::Yield | OpKind::Sleep | OpKind::SliceEnd | OpKind::Update => true,
            _ => !did.accesses.is_empty() && did.accesses.iter().all(|a| a.mode.leaves_as_it_is()),
        };
        if !looks {
            self.spinning.forget_visits();
            self.readings = ClockReadings::default();
        }
        if kind == OpKind::Yield {
            self.yields.rotate_left(1);
            self.yields[YIELDS_OF_POLLING - 1] = self.virtual_system.now;
        }
    }

    /// Whether it gives way to an agent that has waited since this time on that agent's clock: it polls, has seen the same for long, or
    /// has read the clock, or paused, again and again. At a single yield no time passes: the thread would stand still there.
    pub(crate) fn lets_time_pass(&self, since: u64) -> bool {
        let Some(pending) = self.pending.as_ref().filter(|pending| pending.op.kind.gives_way()) else {
            return false;
        };
        let is_single = pending.op.kind == OpKind::Yield
            && matches!(pending.action, Action::Answer(_) | Action::Function { .. });
        !is_single || self.yields.iter().all(|clock| *clock > since)
    }

    /// Keeps what the event that it has just run wrote.
    pub(crate) fn note_writes(&mut self, did: &Effect) {
        let writes = did.accesses.iter().filter(|access| !access.mode.leaves_as_it_is());
        self.wrote.extend(writes.map(|access| access.obj));
    }

    /// The name of its next event.
    pub(crate) fn next_event(&self) -> EventId {
        EventId { thread: self.name, index: self.events }
    }
}

/// The code that a thread is running.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ThreadRole {
    /// The program.
    Program,
    /// The harness.
    Harness,
    /// A test, called by the harness from the frame that ends here; the harness again when that frame is left, by a
    /// return or by unwinding.
    Test { frame: u64 },
}
