//! Calls that fail where the thread that they name has ended, which is no event (`pthread_setname_np`, `pthread_setschedparam`).

use std::ops::Range;

use checker::account::Unwatched;

use crate::control::memory::sharing::TouchKind;
use crate::control::memory::unwatched_uses;
use crate::control::state::account::Account;
use crate::control::state::memory::MemoryState;
use crate::control::state::memory::unwatched_uses::OpenCall;
use crate::control::state::scheduling::Scheduling;
use crate::control::state::thread_index::ThreadIndex;
use crate::control::tracee::Tracee;
use crate::os::calls::AskedFor;

/// Addresses that nothing has, for the end of a thread.
fn end_of(thread: ThreadIndex) -> Range<u64> {
    const FIRST: u64 = unwatched_uses::NO_MEMORY + (1 << 32);
    const WORD: u64 = 8;
    let start = FIRST + WORD * thread.place() as u64;
    start..start + WORD
}

/// Takes note that a call relies on it that a thread has not ended. Whether that ends before or after it, in an order that events give.
pub(super) fn is_running(
    memory: &mut MemoryState,
    (index, call): (ThreadIndex, OpenCall),
    thread: ThreadIndex,
    entry: &Unwatched,
) -> bool {
    relies_on(memory, (index, Some(call)), thread, entry)
}

fn relies_on(
    memory: &mut MemoryState,
    call: (ThreadIndex, Option<OpenCall>),
    thread: ThreadIndex,
    entry: &Unwatched,
) -> bool {
    let end = (end_of(thread), TouchKind::Writes);
    call.0 == thread || thread.is_main() || unwatched_uses::is_settled_in_call(memory, call, end, entry)
}

/// The same of a system call that a thread is about to make, and of all threads that it asks for. Those of other processes end unseen.
pub(crate) fn are_running(
    tracee: &Tracee,
    scheduling: &Scheduling,
    memory: &mut MemoryState,
    index: ThreadIndex,
    asked_for: AskedFor,
    entry: &Unwatched,
) -> bool {
    let is_meant = |thread: &ThreadIndex| match asked_for {
        AskedFor::Nobody => false,
        // The C library knows the number that a thread has in the kernel.
        AskedFor::Number(number) => {
            scheduling.threads[*thread].virtual_system.tid == number
                || i64::from(tracee.tasks[*thread].tid) == number
        }
        AskedFor::Anybody => true,
    };
    let threads: Vec<ThreadIndex> = scheduling.threads.indices().filter(is_meant).collect();
    let is_running = |thread: &&ThreadIndex| relies_on(memory, (index, None), **thread, entry);
    !threads.is_empty() && threads.iter().filter(is_running).count() == threads.len()
}

/// A thread ends. A call that relies on it that it has not, and may as well come later, is entered in the account.
pub(crate) fn note(memory: &mut MemoryState, account: &mut Account, thread: ThreadIndex) {
    let end = end_of(thread);
    let conflict = memory.sharing.touch_in(thread, None, end, TouchKind::Writes);
    if conflict.unwatched_use {
        unwatched_uses::note_conflict(memory, account, thread, &conflict.bytes);
    }
}
