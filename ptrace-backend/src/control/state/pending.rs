//! Pending operations: the operation itself, its need, and the way in which it is carried out.

use checker::names::Obj;
use checker::names::Site;
use checker::operation::Access;
use checker::operation::Effect;
use checker::operation::Op;
use checker::operation::OpKind;

use crate::control::state::sync_objects::Futex;
use crate::control::state::thread_index::ThreadIndex;
use crate::layout::functions::TrappedFunction;
use crate::layout::rust_locks::RustMutex;
use crate::os::Regs;
use crate::os::file_locks::FileLockRequest;
use crate::os::system_v;

/// The operation that a thread is about to do, its need, and the way in which it is carried out.
#[derive(Debug, Clone)]
pub(crate) struct Pending {
    pub(crate) op: Op,
    pub(crate) site: Site,
    pub(crate) condition: WaitCondition,
    pub(crate) action: Action,
    /// The time at which its wait may time out, in nanoseconds of virtual time.
    pub(crate) deadline: Option<u64>,
}

/// Bytes whose change a spinning thread waits for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct AwaitedBytes {
    pub(crate) address: u64,
    pub(crate) object: Obj,
    /// The value of these bytes as long as the thread waits.
    pub(crate) bytes: Vec<u8>,
    /// They are on the thread's own stack or among its thread-local variables.
    pub(crate) is_own: bool,
}

/// The condition that has to hold before a pending operation can run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum WaitCondition {
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
    End(ThreadIndex),
    /// No other thread runs the initialiser.
    Once(u64),
    /// The barrier has left this generation behind.
    Generation(u64, u32),
    /// A signal on this condition variable, and then [`WaitCondition::Mutex`].
    Signal(u64),
    /// A wake on this futex.
    Wake(Futex),
    /// One of these locations no longer holds these bytes.
    Change(Vec<AwaitedBytes>),
    /// One of these files is ready.
    Ready(Vec<FileEvents>),
    /// All of these files are ready.
    AllReady(Vec<FileEvents>),
    /// A call on an object of System V can go on.
    SystemV(system_v::IpcWait),
    /// This lock of a file can be had.
    FileLock(FileLockRequest),
    /// A signal is there for it.
    Arrival(AwaitedSignal),
    /// This virtual time has come.
    Deadline(u64),
    /// The futex with priority inheritance at this address has no owner that could give it back.
    PiFutex(u64),
    /// The lock of a stream of the C library, at this address, can be had.
    Stream(u64),
}

impl WaitCondition {
    /// Whether it is a change of some bytes.
    pub(crate) fn waits_for_bytes(&self) -> bool {
        matches!(self, Self::Change(bytes) if !bytes.is_empty())
    }
}

/// The way in which a pending operation is carried out.
#[derive(Debug, Clone)]
pub(crate) enum Action {
    /// The function at whose entry the thread stands. `object` is its first argument, `timed_out` what it returns when
    /// its time limit passes.
    Function {
        function: TrappedFunction,
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
        /// The number of events that the process had run when it was read.
        read_at: u64,
    },
    /// The system call at which the thread stands returns this.
    Answer(i64),
    /// The answer to the system call at which the thread stands is made up then, as that to a question for the time.
    MakeUp,
    /// The question for the owner of a file, which gets signals about the file, is answered.
    TellOwner,
    /// An object of System V is made, or found, in the place of the thread that asks for it.
    Get(system_v::IpcKind),
    /// The thread stands between key points, and goes on from there.
    GoOn,
    /// The function of a system library at whose entry the thread stands runs; `takes_lock`: it surely comes to an indivisible
    /// instruction.
    Library {
        takes_lock: bool,
    },
    /// The same for one that takes the lock of a stream, at this address, if it can be had at once.
    TryStream(u64),
    /// The kernel carries the system call out.
    Kernel,
    /// The same for a call that finds out whether it would have to wait for these files.
    Try(Vec<crate::control::state::pending::FileEvents>),
    /// `kinds` are those of wakes that are waited for.
    FutexWait {
        futex: Futex,
        value: u32,
        kinds: u32,
    },
    /// `value` is what the word held when the wait began; `None` once it is another word.
    FutexResume {
        futex: Futex,
        value: Option<u32>,
        kinds: u32,
        result: i64,
    },
    FutexWake {
        futex: Futex,
        count: u32,
        kinds: u32,
    },
    FutexRequeue(Requeue),
    FutexWakeOp(WakeOp),
    /// The thread stands where it ends, and lets go of the last one of these robust mutexes; it ends where there is none.
    End(Vec<u64>),
    /// A wait for a signal begins: one that is there already is dealt with before.
    AwaitSignal(AwaitedSignal),
    /// A signal for this thread, or for whichever takes it; the kernel delivers it.
    Send {
        to: Option<ThreadIndex>,
        signal: u64,
    },
    /// The system call at which the thread stands is about a timer.
    Timer,
    /// The system call at which the thread stands makes a timer's file.
    TimerFile,
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

impl Action {
    /// Whether it makes no system call that could change a file, but for those that the thread stops for.
    pub(crate) fn leaves_files_alone(&self) -> bool {
        match self {
            Self::Function { .. }
            | Self::Reacquire { .. }
            | Self::TestCancel { .. }
            | Self::LeaveBarrier { .. }
            | Self::Access
            | Self::RustMutex { .. }
            | Self::SplitRead { .. }
            | Self::SplitWrite { .. }
            | Self::Answer(_)
            | Self::MakeUp
            | Self::GoOn
            | Self::Library { .. }
            | Self::TryStream(_)
            | Self::FutexWait { .. }
            | Self::FutexResume { .. }
            | Self::FutexRequeue(_)
            | Self::FutexWakeOp(_)
            | Self::OnceDone(_)
            | Self::Free(_)
            | Self::Resize(_)
            | Self::Sleep(_)
            | Self::EndOfSlice(_) => true,
            // One for other processes is the kernel's.
            Self::FutexWake { .. }
            | Self::TellOwner
            | Self::Get(_)
            | Self::Kernel
            | Self::Try(_)
            | Self::End(_)
            | Self::AwaitSignal(_)
            | Self::Send { .. }
            | Self::Timer
            | Self::TimerFile => false,
        }
    }
}

impl Pending {
    /// The kinds of wakes on a futex that end this wait.
    pub(crate) fn awaited_kinds(&self) -> u32 {
        match self.action {
            Action::FutexResume { kinds, .. } => kinds,
            _ => Futex::ANY,
        }
    }

    /// Whether a cancellation takes effect here, or in the wait that this begins. Waits in system calls are no matter of
    /// this: the C library ends them by a signal.
    pub(crate) fn is_cancellation_point(&self) -> bool {
        match self.action {
            Action::Function { function, .. } => function.is_cancellation_point(),
            Action::Reacquire { of_rust, .. } => {
                !of_rust && matches!(self.condition, WaitCondition::Signal(_))
            }
            _ => false,
        }
    }

    /// Whether a mutex is released, by an indivisible instruction. A spin lock is released by a plain store.
    pub(crate) fn releases_mutex(&self) -> bool {
        let is_spin = matches!(self.action, Action::Function { function: TrappedFunction::SpinUnlock, .. });
        self.op.kind == OpKind::Unlock && !is_spin
    }

    /// The address of the mutex of the C library that the operation takes or gives up.
    pub(crate) fn mutex(&self) -> Option<u64> {
        use TrappedFunction as F;
        let Action::Function { function, object, .. } = self.action else { return None };
        let is_of_mutex = matches!(
            function,
            F::MutexLock
                | F::MutexTimedLock { .. }
                | F::MutexTryLock
                | F::MutexUnlock
                | F::SpinLock
                | F::SpinTryLock
        );
        is_of_mutex.then_some(object)
    }

    /// Whether the operation comes to no indivisible instruction and not into the kernel, although others of its kind do;
    /// `changes_hands`: a mutex is taken or given up by it.
    pub(crate) fn leaves_store_buffer(&self, changes_hands: bool) -> bool {
        match self.action {
            Action::Function { .. } => !changes_hands,
            Action::Library { takes_lock } => !takes_lock,
            // The time is read in memory that the kernel shares with the process.
            Action::MakeUp => true,
            _ => false,
        }
    }

    /// A condition wait is over, and returns this in place of what it would have; what it needs is the mutex.
    pub(crate) fn wants_mutex(&mut self, returns: Option<u64>) {
        let Action::Reacquire { mutex, result, of_rust, .. } = &mut self.action else { return };
        *result = returns.unwrap_or(*result);
        self.condition = if *of_rust {
            WaitCondition::RustMutex(*mutex, RUST_MUTEX)
        } else {
            WaitCondition::Mutex(*mutex)
        };
        self.deadline = None;
    }

    /// A condition wait with this mutex, whose thread was cancelled, ends by taking that, and acts upon it.
    pub(crate) fn become_cancelled(&mut self, mutex: u64) {
        self.condition = WaitCondition::Mutex(mutex);
        self.action = Action::TestCancel { mutex };
        self.deadline = None;
    }

    /// Whether nothing but a time has to come.
    pub(crate) fn sleeps(&self) -> bool {
        matches!(self.condition, WaitCondition::Deadline(_))
    }

    /// Whether it is the first half of a condition wait.
    pub(crate) fn begins_condition_wait(&self) -> bool {
        matches!(self.action, Action::Function { function, .. } if function.waits_for_signal())
    }
}

/// A call that a thread is made to make, with one argument.
#[derive(Debug)]
pub(crate) struct InjectedCall {
    pub(crate) function: u64,
    pub(crate) argument: u64,
    pub(crate) after: AfterCall,
    /// The thread's registers before the call.
    pub(crate) saved: Option<Regs>,
}

/// The continuation of a thread that has what it called for.
#[derive(Debug)]
pub(crate) enum AfterCall {
    /// It rests, at this operation.
    Stay(Box<Pending>),
    /// Out of the function at whose entry it stood, with this result, or with that of the call if it is an error.
    Return(u64),
    /// Into another function.
    Jump(u64),
}

impl InjectedCall {
    pub(crate) fn new(function: u64, argument: u64, after: AfterCall) -> Self {
        Self { function, argument, after, saved: None }
    }
}

/// The continuation of a thread after its operation.
pub(crate) enum Continuation {
    /// Through the instruction at which it stands.
    Pass,
    /// Out of the function at whose entry it stands, with this result.
    Return(u64),
    /// Into another function in place of the one at whose entry it stands.
    Jump(u64),
    /// As it stands: a signal is waiting for it.
    Handle,
    /// Out of the system call at which it stands, with this result.
    Answer(i64),
    /// Into the system call at which it stands.
    Kernel,
    /// Out of the process, at whose exit it stands.
    End,
    /// To the system call at which it stands, once more.
    Again,
    /// Not yet: this comes first.
    Stay(Box<Pending>),
    /// Through another function, and then on.
    Call(Box<InjectedCall>),
}

/// A file descriptor and the events that are waited for.
pub(crate) type FileEvents = (i32, i16);

/// The signal that a thread waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AwaitedSignal {
    /// One of these, which it takes.
    Any(u64),
    /// One that does something, while these are blocked.
    Unblocked(u64),
    /// One that does something.
    Effective,
}

/// `FUTEX_REQUEUE` and `FUTEX_CMP_REQUEUE`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Requeue {
    pub(crate) from: Futex,
    /// The number of waiters to wake.
    pub(crate) wake: u32,
    /// The futex to which further ones are moved, and the largest number of these.
    pub(crate) to: Futex,
    pub(crate) most: u32,
    /// Only if the first futex holds this.
    pub(crate) expected: Option<u32>,
}

/// `FUTEX_WAKE_OP`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WakeOp {
    pub(crate) first: Futex,
    /// The number of waiters to wake there.
    pub(crate) wake: u32,
    pub(crate) second: Futex,
    /// The number of waiters to wake there, if that word held what is asked for.
    pub(crate) wake_second: u32,
    /// The operation on the second word and its comparison, as the kernel encodes them.
    pub(crate) code: u32,
}

/// The length of the word of a mutex, in bytes.
pub(crate) const RUST_MUTEX: usize = 4;

/// The effect of an operation that could not have what it wanted.
pub(crate) fn only_looks(all: &Effect) -> Effect {
    Effect::on(all.accesses.iter().map(|access| Access::read(access.obj)))
}

/// The operation with what the end of its time would do, if it is a wait with a time limit.
pub(crate) fn limited(mut op: Op, condition: &WaitCondition, deadline: Option<u64>) -> Op {
    let touched = op.may.accesses.first().map(|access| Access::write(access.obj));
    op.limit = deadline.filter(|_| *condition != WaitCondition::Nothing).map(|_| Effect::on(touched));
    op
}
