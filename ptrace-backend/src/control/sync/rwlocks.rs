//! Locks of which trying, waiting and taking are events of their own, as they are in the libraries' code: read-write locks that
//! prefer writers (those of Rust's standard library where they are contended for, those of the C library that were set to do
//! so), and the mutex of Rust's standard library where nothing tells which instructions take and release it.
//!
//! A writer that finds such a lock held leaves word of it, and from then on no reader gets in beside those that have it: a
//! reader that takes the lock again waits for a writer that waits for it. Trying takes the lock by the library's code. To the
//! checker these are no lock operations, since the others on the same lock are loads, stores and updates.

use checker::names::Obj;
use checker::operation::{Access, Effect, Op, OpKind};
use checker::peculiarity::Peculiarity;

use crate::control::process::Process;
use crate::control::state::memory::MemoryState;
use crate::control::state::pending::{Action, Continuation, Pending, WaitCondition, limited, only_looks};
use crate::control::state::sync_objects::Objects;
use crate::control::state::thread_index::ThreadIndex;
use crate::control::sync::calls;
use crate::control::tracee::Tracee;
use crate::layout::functions::TrappedFunction;

/// `PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP`, and where a `pthread_rwlock_t` holds it.
const PREFERS_WRITERS: u64 = 2;
const KIND: u64 = 48;

/// The word of a read-write lock of Rust's standard library: the number of threads that have it for reading, and the kinds of
/// threads that wait.
#[derive(Clone, Copy)]
struct Word(u32);

impl Word {
    const HOLDERS: u32 = (1 << 30) - 1;
    const WRITER: u32 = Self::HOLDERS;
    const WRITERS_WAIT: u32 = 1 << 31;

    fn can_read(self) -> bool {
        let is_waited_for = self.0 & !Self::HOLDERS != 0;
        self.0 & Self::HOLDERS < Self::WRITER - 1 && !is_waited_for
    }

    fn can_write(self) -> bool {
        self.0 & Self::HOLDERS == 0
    }

    fn has_writer_waiting(self) -> bool {
        self.0 & Self::WRITERS_WAIT != 0
    }
}

/// The first operation of a call, and its need, if the call is one of such a lock.
pub(crate) fn describe_writer_preferring(
    tracee: &Tracee,
    memory: &MemoryState,
    index: ThreadIndex,
    function: TrappedFunction,
    object: u64,
) -> Option<(Op, WaitCondition)> {
    use TrappedFunction as F;
    match function {
        F::RustLock | F::RustReadLock | F::RustWriteLock => {}
        _ if function.is_of_rwlock() && prefers_writers(tracee, object) => {}
        _ => return None,
    }
    let changes = |kind| Op::new(kind, [Access::write(rwlock_object(memory, function, object))]);
    Some(match function {
        F::RustLock | F::RustReadLock | F::ReadLock | F::ReadTimedLock { .. } => {
            await_rwlock(memory, function, object)
        }
        // A thread that is not scheduled runs as soon as it can have the lock.
        _ if !function.only_tries() && !tracee.is_scheduled(index) && function != F::RwUnlock => {
            await_rwlock(memory, function, object)
        }
        F::RwUnlock => (changes(OpKind::Update), WaitCondition::Nothing),
        _ => (changes(OpKind::CompareExchange), WaitCondition::Nothing),
    })
}

/// Whether the C library refuses to let a thread wait for a lock: it has it for writing itself (`EDEADLK`).
pub(crate) fn is_refused(
    objects: &Objects,
    index: ThreadIndex,
    function: TrappedFunction,
    object: u64,
) -> bool {
    use TrappedFunction as F;
    let waits =
        matches!(function, F::ReadLock | F::ReadTimedLock { .. } | F::WriteLock | F::WriteTimedLock { .. });
    waits && objects.rwlocks.get(&object).is_some_and(|lock| lock.writer == Some(index))
}

/// Whether a read-write lock of the C library prefers writers.
fn prefers_writers(tracee: &Tracee, object: u64) -> bool {
    tracee.number(object + KIND, 4) == PREFERS_WRITERS
}

/// The object that stands for the lock: for one of Rust's, the word that its other operations change.
fn rwlock_object(memory: &MemoryState, function: TrappedFunction, object: u64) -> Obj {
    memory.object(object, if function.is_of_rwlock() { 1 } else { 4 })
}

fn await_rwlock(memory: &MemoryState, function: TrappedFunction, object: u64) -> (Op, WaitCondition) {
    let condition = match function {
        TrappedFunction::RustLock => WaitCondition::RustMutex(object, 4),
        TrappedFunction::RustReadLock => WaitCondition::RustRead(object),
        TrappedFunction::RustWriteLock => WaitCondition::RustWrite(object),
        TrappedFunction::ReadLock | TrappedFunction::ReadTimedLock { .. } => WaitCondition::ReadLock(object),
        _ => WaitCondition::WriteLock(object),
    };
    (Op::new(OpKind::Await, [Access::read(rwlock_object(memory, function, object))]), condition)
}

/// The next step of taking such a lock.
pub(crate) fn take(
    Process { tracee, scheduling, objects, memory, account }: &mut Process,
    index: ThreadIndex,
    pending: &Pending,
    function: TrappedFunction,
    object: u64,
) -> (Effect, Continuation) {
    let all = pending.op.may.clone();
    let stay = |(op, condition): (Op, WaitCondition)| {
        let Pending { site, ref action, deadline, .. } = *pending;
        let op = limited(op, &condition, deadline);
        Continuation::Stay(Box::new(Pending { op, site, condition, action: action.clone(), deadline }))
    };
    if pending.deadline.is_some() {
        account.note(Peculiarity::TimedWaitForWriterPreferringLock);
    }
    if pending.op.kind == OpKind::Await {
        let tries = Access::write(rwlock_object(memory, function, object));
        return (all, stay((Op::new(OpKind::CompareExchange, [tries]), WaitCondition::Nothing)));
    }
    if can_take(tracee, objects, function, object) {
        calls::carry_out(tracee, scheduling, objects, index, function, object);
        return (all, Continuation::Pass);
    }
    let did = if announce_writer(tracee, objects, index, function, object) { all } else { only_looks(&all) };
    (did, stay(await_rwlock(memory, function, object)))
}

fn can_take(tracee: &Tracee, objects: &Objects, function: TrappedFunction, object: u64) -> bool {
    let word = Word(tracee.number(object, 4) as u32);
    match function {
        TrappedFunction::RustLock => word.0 == 0,
        TrappedFunction::RustReadLock => word.can_read(),
        TrappedFunction::RustWriteLock => word.can_write(),
        TrappedFunction::ReadLock | TrappedFunction::ReadTimedLock { .. } => can_read(objects, object),
        _ => objects.rwlocks.get(&object).is_none_or(|lock| lock.can_write()),
    }
}

/// Leaves word that a writer waits; `false` if that is known.
fn announce_writer(
    tracee: &Tracee,
    objects: &mut Objects,
    index: ThreadIndex,
    function: TrappedFunction,
    object: u64,
) -> bool {
    match function {
        TrappedFunction::RustWriteLock => {
            let word = Word(tracee.number(object, 4) as u32);
            let announced = word.0 | Word::WRITERS_WAIT;
            !word.has_writer_waiting() && tracee.write(object, &announced.to_le_bytes())
        }
        TrappedFunction::WriteLock | TrappedFunction::WriteTimedLock { .. } => {
            let queue = &mut objects.rwlocks.entry(object).or_default().queue;
            let is_new = !queue.contains(&index);
            if is_new {
                queue.push(index);
            }
            is_new
        }
        _ => false,
    }
}

/// The time of a wait is over: a writer waits no longer, and a reader that waits behind one is told by this what its
/// function returns, since the lock's own memory knows of no writer that waits.
pub(crate) fn give_up(
    tracee: &Tracee,
    objects: &mut Objects,
    index: ThreadIndex,
    action: &Action,
) -> Option<u64> {
    let Action::Function { function, object, timed_out } = *action else { return None };
    if let Some(lock) = objects.rwlocks.get_mut(&object) {
        lock.queue.retain(|&writer| writer != index);
    }
    let reads = matches!(function, TrappedFunction::ReadTimedLock { .. });
    (reads && prefers_writers(tracee, object)).then_some(timed_out)
}

/// Whether a reader that only tries has to be told that a writer waits.
pub(crate) fn fails_behind_writer(
    tracee: &Tracee,
    objects: &Objects,
    function: TrappedFunction,
    object: u64,
) -> bool {
    function == TrappedFunction::ReadTryLock && prefers_writers(tracee, object) && !can_read(objects, object)
}

/// Whether a lock of the C library can be had for reading.
pub(crate) fn can_read(objects: &Objects, object: u64) -> bool {
    let Some(lock) = objects.rwlocks.get(&object) else { return true };
    // Writers that wait keep no thread out once the last reader has left.
    lock.can_read() && (lock.queue.is_empty() || lock.readers.is_empty())
}

/// Whether a lock of Rust's standard library can be had for reading.
pub(crate) fn can_read_rust(tracee: &Tracee, object: u64) -> bool {
    Word(tracee.number(object, 4) as u32).can_read()
}

/// Whether a writer that waits for a lock of Rust's standard library is to try again: the lock can be had, or its word does not
/// say any more that a writer waits.
pub(crate) fn is_writer_woken(tracee: &Tracee, object: u64) -> bool {
    let word = Word(tracee.number(object, 4) as u32);
    word.can_write() || !word.has_writer_waiting()
}
