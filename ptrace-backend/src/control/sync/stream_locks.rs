//! The locks of streams of the C library, and the calls on streams that are events ([`crate::control::memory::foreign_calls`]).

use checker::operation::{Access, Divisibility};

use crate::control::state::scheduling::Scheduling;
use crate::control::state::thread::{RunState, StreamCall};
use crate::control::state::thread_index::ThreadIndex;
use crate::control::tracee::Tracee;

/// The length of the part of a lock that says how often it is held, and the place of its owner's `pthread_t`, in bytes.
pub(crate) const HELD: usize = 4;
const OWNER: u64 = 8;

const POINTER: usize = 8;

/// Whether a thread can have the lock of a stream, which is at this address.
pub(crate) fn is_free(tracee: &Tracee, scheduling: &Scheduling, index: ThreadIndex, lock: u64) -> bool {
    owner(tracee, scheduling, lock).is_none_or(|owner| owner == index)
}

/// The thread that has the lock of a stream.
pub(crate) fn owner(tracee: &Tracee, scheduling: &Scheduling, lock: u64) -> Option<ThreadIndex> {
    if tracee.number(lock, HELD) == 0 {
        return None;
    }
    let owner = tracee.number(lock + OWNER, POINTER);
    let has_ended = |index: ThreadIndex| matches!(scheduling.threads[index].run_state, RunState::Ended);
    scheduling.threads.indices().find(|&index| !has_ended(index) && tracee.tasks[index].handle == owner)
}

/// Whether a thread is in a call on a stream that is an event.
pub(crate) fn is_in_call(tracee: &Tracee, scheduling: &Scheduling, index: ThreadIndex) -> bool {
    let stack = tracee.tasks[index].regs.rsp;
    let call = scheduling.threads[index].in_stream.as_ref().map(|stream| stream.call);
    call.is_some_and(|call| call.goes_on(stack, |at| tracee.number(at, POINTER)))
}

/// An event in the midst of a call on a stream, like the system call that writes the stream's buffer, is one of the stream: the calls of
/// others come after it.
pub(crate) fn depend_on_open_call(tracee: &Tracee, scheduling: &mut Scheduling, index: ThreadIndex) {
    let is_in_call = is_in_call(tracee, scheduling, index);
    let thread = &mut scheduling.threads[index];
    let Some(StreamCall { stream, .. }) = thread.in_stream.filter(|_| is_in_call) else {
        thread.in_stream = None;
        return;
    };
    let Some(pending) = &mut thread.pending else { return };
    // Memory that the kernel copies: the event of the call tells what of it may be found half done.
    if pending.op.divisibility == Divisibility::DivisibleInMemory {
        pending.op.divisibility = Divisibility::Indivisible;
    }
    let accesses = &mut pending.op.may.accesses;
    if accesses.iter().all(|access| access.obj != stream) {
        accesses.push(Access::write(stream));
    }
}
