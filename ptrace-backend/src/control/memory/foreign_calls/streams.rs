//! Streams of the C library, whose calls are operations where threads share one, and the memory that calls on streams use.
//!
//! A stream has a lock, which its functions take for as long as they run, and `flockfile` for longer. So a call is one event of a stream:
//! it waits until the lock can be had, and other calls on the same stream come before or after it. Two kinds of calls are not whole: that
//! of a function without the lock (`fputc_unlocked`), and the code of macros (`getc_unlocked`), which is the program's own. Of the former
//! the event says that it is carried out in steps; the latter touches memory that calls use ([`unwatched_uses`]).

use checker::account::UnwatchedKind;
use checker::names::Obj;
use checker::operation::{Access, Divisibility, Op, OpKind};

use super::call::{entry_of, shared_arguments};
use super::stream_parts::parts;
use crate::control::memory::naming::MemoryRegion;
use crate::control::memory::sharing::TouchKind;
use crate::control::memory::unwatched_uses;
use crate::control::operations;
use crate::control::state::flow::Flow;
use crate::control::state::memory::MemoryState;
use crate::control::state::pending::{Action, WaitCondition};
use crate::control::state::scheduling::Scheduling;
use crate::control::state::thread::StreamCall;
use crate::control::state::thread_index::ThreadIndex;
use crate::control::sync::stream_locks::{self, HELD};
use crate::control::tracee::Tracee;
use crate::layout::Foreign;
use crate::libraries::effects::{Effects, StreamArgument};

/// The place in a `FILE` of the pointer to its lock.
const LOCK: u64 = 136;

/// The place in a `FILE` of a pointer that nothing but the library uses: it stands for what calls do to the rest of it.
const CONTENT: u64 = 104;

/// The flag of a stream that its program locks itself (`__fsetlocking`).
const LOCKED_BY_CALLER: u64 = 0x8000;

/// The running thread has come to a function that works on a stream: an operation, if it is one on the lock, or if other threads work
/// on the same stream.
pub(super) fn enter(
    tracee: &Tracee,
    scheduling: &mut Scheduling,
    memory: &mut MemoryState,
    index: ThreadIndex,
    foreign: &Foreign,
) -> Option<Flow> {
    let (stream, lock) = stream_of(tracee, index, foreign)?;
    let is_output = tracee.layout.standard_streams.contains(&stream);
    let touch = match foreign.effects {
        Effects::LocksStream(_) => TouchKind::Writes,
        // The content is read back by no thread; but one that has the lock keeps others from going on.
        _ if is_output && !tracee.layout.locks_streams && !memory.knowledge.looks_at_outputs() => {
            return None;
        }
        // Two calls that are not on the lock may be in an order that other events give.
        _ => TouchKind::Reads,
    };
    let word = lock..lock.saturating_add(HELD as u64);
    if !memory.sharing.touch_in(index, None, word, touch).bytes.is_empty() {
        share(tracee, memory, index, foreign);
    }
    let object = memory.object(lock, HELD as u64);
    let (op, condition, action) = match foreign.effects {
        Effects::LocksStream(kind) => {
            let mut op = Op::new(kind, [Access::write(object)]);
            // In the midst of a call of another thread it fails, which no order of whole calls shows.
            op.divisibility = Divisibility::divisible_if(kind == OpKind::TryLock);
            match kind {
                // A thread may have the lock already.
                OpKind::Lock => (op, WaitCondition::Stream(lock), Action::Library { takes_lock: false }),
                OpKind::TryLock => (op, WaitCondition::Nothing, Action::TryStream(lock)),
                _ => (op, WaitCondition::Nothing, Action::Library { takes_lock: false }),
            }
        }
        _ if !memory.knowledge.is_shared(object) => return None,
        _ => {
            let is_locked = is_locked(tracee, stream, &foreign.name);
            let op =
                call_on(tracee, scheduling, memory, index, foreign, (stream, is_locked.then_some(object)));
            let condition = if is_locked { WaitCondition::Stream(lock) } else { WaitCondition::Nothing };
            let takes_lock = is_locked && stream_locks::owner(tracee, scheduling, lock) != Some(index);
            (op, condition, Action::Library { takes_lock })
        }
    };
    Some(operations::pend(tracee, scheduling, index, op, condition, action, None))
}

/// The operation that a call on a shared stream is; `lock`: it takes it for as long as it runs.
fn call_on(
    tracee: &Tracee,
    scheduling: &mut Scheduling,
    memory: &mut MemoryState,
    index: ThreadIndex,
    foreign: &Foreign,
    (stream, lock): (u64, Option<Obj>),
) -> Op {
    // As a part of memory that is shared otherwise, the lock may be so before calls are operations.
    memory.promoted |= memory.knowledge.share_streams();
    let call = unwatched_uses::call(tracee, index);
    let entry = entry_of(UnwatchedKind::File, foreign);
    for part in parts(tracee, memory, stream) {
        unwatched_uses::begin_in_event(memory, (index, call), part, &entry);
    }
    let content = memory.object(stream.saturating_add(CONTENT), 1);
    scheduling.threads[index].in_stream = Some(StreamCall { stream: lock.unwrap_or(content), call });
    let arguments = shared_arguments(tracee, memory, index, foreign);
    let is_whole = lock.is_some() && arguments.is_empty();
    let objects = lock.into_iter().chain([content]).map(Access::write);
    let mut op = Op::new(OpKind::Io, objects.chain(arguments.iter().map(|other| memory.named_access(other))));
    op.divisibility = Divisibility::divisible_if(!is_whole);
    op
}

/// Whether a function has the lock of its stream for as long as it runs.
fn is_locked(tracee: &Tracee, stream: u64, function: &str) -> bool {
    /// Functions that leave the lock to their caller, beside those whose names say so: macros call these.
    const UNLOCKED: [&str; 2] = ["__overflow", "__uflow"];
    let by_caller = tracee.number(stream, 4) & LOCKED_BY_CALLER != 0;
    !by_caller && !function.ends_with("_unlocked") && !UNLOCKED.contains(&function)
}

/// Threads work on the stream of this call in no order that events give: its calls are operations from now on. `false` if they are.
pub(super) fn share(
    tracee: &Tracee,
    memory: &mut MemoryState,
    index: ThreadIndex,
    foreign: &Foreign,
) -> bool {
    let Some((_, lock)) = stream_of(tracee, index, foreign) else { return false };
    let mut is_new = memory.knowledge.share_streams() | memory.knowledge.order_uses();
    if matches!(memory.place(lock).region, MemoryRegion::Heap | MemoryRegion::Unknown) {
        is_new |= memory.knowledge.watch_allocator();
    }
    is_new |= memory.knowledge.promote(&[], None, &[memory.object(lock, HELD as u64)]);
    memory.promoted |= is_new;
    is_new
}

/// The stream on which a call works, and its lock; `None`: it works on all of them.
pub(super) fn stream_of(tracee: &Tracee, index: ThreadIndex, foreign: &Foreign) -> Option<(u64, u64)> {
    let stream = match foreign.effects {
        Effects::Stream(StreamArgument::StandardInput) => tracee.layout.standard_input?,
        Effects::Stream(StreamArgument::StandardOutput) => tracee.layout.standard_output?,
        Effects::Stream(StreamArgument::StandardError) => tracee.layout.standard_error?,
        Effects::Stream(StreamArgument::Nth(argument)) => tracee.tasks[index].argument(argument),
        Effects::AboutStream | Effects::LocksStream(_) => tracee.tasks[index].argument(0),
        _ => return None,
    };
    let lock = tracee.number(stream.checked_add(LOCK)?, 8);
    (stream != 0 && lock != 0).then_some((stream, lock))
}
