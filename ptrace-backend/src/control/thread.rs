//! One thread of the target.

use std::ops::Range;

use checker::failure::Failure;
use checker::names::{EventId, Obj, Site, ThreadName};
use checker::operation::{Effect, Op, OpKind};
use smallvec::SmallVec;

use crate::answers::World;
use crate::control::harness::Part;
use crate::control::injected_calls::Call;
use crate::control::kernel::clock::Readings;
use crate::control::kernel::files::Wanted;
use crate::control::kernel::signal_waits::Awaited;
use crate::control::loops::spin::Spinning;
use crate::control::loops::time_slices::Slices;
use crate::control::memory::heap::Allocating;
use crate::control::sync::futexes::Requeue;
use crate::control::sync::objects::Index;
use crate::control::sync::rust_condvars::RUST_MUTEX;
use crate::layout::functions::Function;
use crate::layout::rust_locks::RustMutex;
use crate::os::{Regs, Tid};

/// A thread, stopped except while [`crate::control::process::Process`] runs it.
#[derive(Debug)]
pub(crate) struct Thread {
    pub(crate) tid: Tid,
    pub(crate) name: ThreadName,
    pub(crate) stage: Stage,
    pub(crate) part: Part,
    /// The kernel no longer has it.
    pub(crate) reaped: bool,
    /// As of its last stop; valid while it is [`Stage::Live`].
    pub(crate) regs: Regs,
    /// What it does next. `None` only while it runs, and once it has ended.
    pub(crate) pending: Option<Pending>,
    /// How many threads it has created.
    pub(crate) children: u16,
    /// How many events it has run.
    pub(crate) events: u32,
    pub(crate) world: World,
    /// The memory that is its stack.
    pub(crate) stack: Range<u64>,
    /// What `pthread_self` gives it.
    pub(crate) handle: u64,
    /// Since when it could run, in nanoseconds of virtual time; `None` where it cannot, or waits for a time.
    pub(crate) runnable_since: Option<u64>,
    /// The same for each of its events so far.
    pub(crate) begun: Vec<u64>,
    /// The event that woke it, until its next event.
    pub(crate) woken_by: Option<EventId>,
    /// The next wait in the kernel is to end with a time-out.
    pub(crate) times_out: bool,
    pub(crate) spinning: Spinning,
    pub(crate) slices: Slices,
    pub(crate) readings: Readings,
    /// What its condition wait returns if it runs out of time.
    pub(crate) timeout_result: u64,
    /// It is the one that its barrier tells so.
    pub(crate) serial: bool,
    /// A signal that it got while an instruction was stepped in place, to be dealt with when it goes on.
    pub(crate) deferred_signal: i32,
    /// It is inside a function of the allocator.
    pub(crate) allocating: Option<Allocating>,
    /// It is inside a function that it was made to call.
    pub(crate) calling: Option<Box<Call>>,
    /// A signal is there whose handler it is to run.
    pub(crate) signalled: bool,
    /// Since its last event its store buffer was emptied.
    pub(crate) drained: bool,
    /// What its last event wrote.
    pub(crate) wrote: SmallVec<[Obj; 1]>,
    /// It is about to send this one a signal, which has been accounted for.
    pub(crate) kills: Option<Index>,
    pub(crate) cancellation: Cancellation,
    /// The waits that signal handlers interrupt, to be taken up where they left off when the handlers return.
    pub(crate) interrupted: Vec<InterruptedWait>,
    /// The word that the kernel clears when the thread ends; `None` if that is not known.
    pub(crate) tid_word: Option<u64>,
    /// It stops where it ends. The main thread is another matter.
    pub(crate) stops_at_exit: bool,
}

/// How far a thread has come.
#[derive(Debug)]
pub(crate) enum Stage {
    /// It is at a key point.
    Live,
    /// It has failed, and is held where it did.
    Failed(Failure),
    /// It has asked to end the process, or has ended itself.
    Ended,
}

/// What ends a thread's wait before its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Interrupt {
    /// A signal whose handler it is to run.
    Signal,
    /// `pthread_cancel`.
    Cancel,
}

/// What is known of a thread's cancellation.
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
}

/// What a thread is about to do, what it waits for, and how it is done.
#[derive(Debug, Clone)]
pub(crate) struct Pending {
    pub(crate) op: Op,
    pub(crate) site: Site,
    pub(crate) need: Need,
    pub(crate) act: Act,
    /// When its wait may time out, in nanoseconds of virtual time.
    pub(crate) deadline: Option<u64>,
}

/// What has to hold before a pending operation can run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Need {
    Nothing,
    /// The mutex at this address can be had.
    Mutex(u64),
    /// The mutex of Rust's standard library at this address, of this many bytes, can be had.
    RustMutex(u64, usize),
    /// The read-write lock of Rust's standard library at this address can be had for reading.
    RustRead(u64),
    /// The same for writing, or its writers are to say again that they wait.
    RustWrite(u64),
    ReadLock(u64),
    WriteLock(u64),
    /// The semaphore is above 0.
    Semaphore(u64),
    /// This thread has ended.
    End(Index),
    /// No other thread runs the initialiser.
    Once(u64),
    /// The barrier has left this generation behind.
    Generation(u64, u32),
    /// A signal on this condition variable, and then [`Need::Mutex`].
    Signal(u64),
    /// A wake on this futex.
    Wake(u64),
    /// One of these locations no longer holds these bytes.
    Change(Vec<(u64, Obj, Vec<u8>)>),
    /// One of these files is ready.
    Ready(Vec<Wanted>),
    /// A signal is there for it.
    Arrival(Awaited),
    /// This virtual time has come.
    Deadline(u64),
    /// The futex with priority inheritance at this address has no owner that could give it back.
    PiFutex(u64),
}

/// How a pending operation is carried out.
#[derive(Debug, Clone)]
pub(crate) enum Act {
    /// The function at whose entry the thread stands. `object` is its first argument, `timed_out` what it returns when
    /// its time limit passes.
    Function {
        function: Function,
        object: u64,
        timed_out: u64,
    },
    /// The second half of a condition wait. `of_rust`: both are of Rust's standard library.
    Reacquire {
        mutex: u64,
        cond: u64,
        result: u64,
        of_rust: bool,
    },
    /// The end of a condition wait that was cancelled.
    TestCancel {
        mutex: u64,
    },
    /// The second half of a barrier wait.
    LeaveBarrier {
        result: u64,
    },
    /// The instruction at which the thread stands.
    Access,
    /// The instruction at which the thread stands takes or releases the Rust mutex at this address.
    RustMutex {
        what: RustMutex,
        addr: u64,
    },
    /// The read of an instruction that reads and writes: nothing is executed yet.
    SplitRead {
        addr: u64,
        len: usize,
    },
    /// Its write: what was read is put back, then the instruction is executed.
    SplitWrite {
        addr: u64,
        value: Vec<u8>,
        /// How many events the process had run when it was read.
        read_at: u64,
    },
    /// The system call at which the thread stands returns this.
    Answer(i64),
    /// The system call at which the thread stands returns what the clock shows then.
    ReadClock,
    /// The kernel carries the system call out.
    Kernel,
    /// The same for a call that finds out whether it would have to wait for these files.
    Try(Vec<crate::control::kernel::files::Wanted>),
    FutexWait {
        addr: u64,
        value: u32,
    },
    /// `value` is what the word held when the wait began; `None` once it is another word.
    FutexResume {
        addr: u64,
        value: Option<u32>,
        result: i64,
    },
    FutexWake {
        addr: u64,
        count: u32,
    },
    FutexRequeue(Requeue),
    /// The thread stands where it ends, and lets go of the last one of these robust mutexes.
    Leave(Vec<u64>),
    /// A wait for a signal begins: one that is there already is dealt with before.
    AwaitSignal(Awaited),
    /// A signal for this thread, or for whichever takes it; the kernel delivers it.
    Send {
        to: Option<Index>,
        signal: u64,
    },
    /// The initialiser at this address has run.
    OnceDone(u64),
    /// The function at whose entry the thread stands frees the block at this address.
    Free(u64),
    /// The function at whose entry the thread stands allocates another block in place of the one at this address.
    Resize(u64),
    /// A sleep that lasts until this virtual time.
    Sleep(u64),
    /// The thread gives way, and has this to do then.
    EndOfSlice(Box<Pending>),
}

impl Pending {
    /// Whether a cancellation takes effect here, or in the wait that this begins. Waits in system calls are no matter of
    /// this: the C library ends them by a signal.
    pub(crate) fn is_cancellation_point(&self) -> bool {
        match self.act {
            Act::Function { function, .. } => function.is_cancellation_point(),
            Act::Reacquire { of_rust, .. } => !of_rust && matches!(self.need, Need::Signal(_)),
            _ => false,
        }
    }

    /// Whether a mutex is released, by an indivisible instruction. A spin lock is released by a plain store.
    pub(crate) fn releases_mutex(&self) -> bool {
        let is_spin = matches!(self.act, Act::Function { function: Function::SpinUnlock, .. });
        self.op.kind == OpKind::Unlock && !is_spin
    }

    /// A condition wait is over, and returns this in place of what it would have; what it needs is the mutex.
    pub(crate) fn wants_mutex(&mut self, returns: Option<u64>) {
        let Act::Reacquire { mutex, result, of_rust, .. } = &mut self.act else { return };
        *result = returns.unwrap_or(*result);
        self.need = if *of_rust { Need::RustMutex(*mutex, RUST_MUTEX) } else { Need::Mutex(*mutex) };
        self.deadline = None;
    }

    /// A condition wait with this mutex, whose thread was cancelled, ends by taking that, and acts upon it.
    pub(crate) fn become_cancelled(&mut self, mutex: u64) {
        self.need = Need::Mutex(mutex);
        self.act = Act::TestCancel { mutex };
        self.deadline = None;
    }

    /// Whether nothing but a time has to come.
    pub(crate) fn sleeps(&self) -> bool {
        matches!(self.need, Need::Deadline(_))
    }

    /// Whether it is the first half of a condition wait.
    pub(crate) fn begins_condition_wait(&self) -> bool {
        matches!(self.act, Act::Function { function, .. } if function.waits_for_signal())
    }
}

impl Thread {
    /// A new thread with these registers, stopped before its first instruction.
    pub(crate) fn new(tid: Tid, name: ThreadName, regs: Regs, stack: Range<u64>, world: World) -> Self {
        Self {
            tid,
            name,
            stage: Stage::Live,
            part: Part::Program,
            reaped: false,
            regs,
            pending: None,
            children: 0,
            events: 0,
            world,
            stack,
            handle: regs.fs_base,
            runnable_since: None,
            begun: Vec::new(),
            woken_by: None,
            times_out: false,
            spinning: Spinning::default(),
            slices: Slices::default(),
            readings: Readings::default(),
            timeout_result: 0,
            serial: false,
            deferred_signal: 0,
            allocating: None,
            calling: None,
            signalled: false,
            drained: false,
            wrote: SmallVec::new(),
            kills: None,
            cancellation: Cancellation::default(),
            interrupted: Vec::new(),
            tid_word: None,
            stops_at_exit: false,
        }
    }

    /// Whether it may still move.
    pub(crate) fn is_live(&self) -> bool {
        matches!(self.stage, Stage::Live)
    }

    /// Whether an address is on its stack or among its thread-local variables, as far as they are near its control block.
    pub(crate) fn owns(&self, addr: u64) -> bool {
        const NEAR: u64 = 0x1000;
        let control_block = self.regs.fs_base.saturating_sub(NEAR)..self.regs.fs_base.saturating_add(NEAR);
        self.stack.contains(&addr) || control_block.contains(&addr)
    }

    /// Its wait, and those that signal handlers have interrupted.
    pub(crate) fn waits(&mut self) -> impl Iterator<Item = &mut Pending> {
        self.pending.iter_mut().chain(self.interrupted.iter_mut().map(|wait| &mut wait.pending))
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

    /// An argument of the function at whose entry it stands, from 0.
    pub(crate) fn argument(&self, i: usize) -> u64 {
        let r = &self.regs;
        [r.rdi, r.rsi, r.rdx, r.rcx, r.r8, r.r9][i]
    }
}
