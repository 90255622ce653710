//! Robust mutexes whose owner ends: their release by it is an event, which comes before that of any thread that takes them
//! over.
//!
//! The kernel finds them in a list in the thread's own memory once the thread is past its last instruction. So a thread that
//! takes such a mutex, or tells the kernel of a list that is not the C library's, is made to stop there, and what the kernel
//! would do to each of them is done here, one event after the other: then it finds nothing left to do.

use checker::names::EventId;
use checker::program::{ExecutionError, OpOutcome};

use crate::control::state::memory::MemoryState;
use crate::control::state::scheduling::Scheduling;
use crate::control::state::sync_objects::{Futex, OWNER_DIED, Objects};
use crate::control::state::thread_index::ThreadIndex;
use crate::control::sync::futexes;
use crate::control::tracee::Tracee;
use crate::error::{SystemAction, system};
use crate::os::{process, ptrace};

/// Bits of the word of a robust mutex.
const WAITERS: u32 = 0x8000_0000;
const OWNER: u64 = 0x3fff_ffff;

/// A thread uses a mutex: if it is robust, the thread is to stop where it ends.
pub(crate) fn watch_end(
    tracee: &mut Tracee,
    objects: &Objects,
    index: ThreadIndex,
    mutex: u64,
) -> Result<(), ExecutionError> {
    let is_robust = objects.mutexes.get(&mutex).is_some_and(|mutex| mutex.robust);
    if is_robust { stop_at_end(tracee, index) } else { Ok(()) }
}

/// A thread tells the kernel where its list is: if that is a list of the program's own, the thread is to stop where it ends. The
/// list of the C library lies in its description of the thread, to which the thread's segment leads.
pub(crate) fn note_list(tracee: &mut Tracee, index: ThreadIndex) -> Result<(), ExecutionError> {
    /// No description is larger, in bytes.
    const DESCRIPTION: u64 = 4096;
    let regs = &tracee.tasks[index].regs;
    let is_library = regs.rdi.wrapping_sub(regs.fs_base) < DESCRIPTION;
    if is_library { Ok(()) } else { stop_at_end(tracee, index) }
}

fn stop_at_end(tracee: &mut Tracee, index: ThreadIndex) -> Result<(), ExecutionError> {
    // Main does in any case.
    if index.is_main() || tracee.tasks[index].stops_at_exit {
        return Ok(());
    }
    tracee.tasks[index].stops_at_exit = true;
    tracee.stop_in_kernel(index)?;
    ptrace::stop_at_exit(tracee.tasks[index].tid, true).map_err(system(SystemAction::TraceThreadEnd))
}

/// Does to a mutex what the kernel does to those of a thread that ends.
pub(crate) fn leave(
    tracee: &Tracee,
    scheduling: &mut Scheduling,
    objects: &mut Objects,
    memory: &MemoryState,
    at: u64,
    outcome: OpOutcome,
    id: Option<EventId>,
) {
    let before = tracee.number(at, 4) as u32;
    tracee.write(at, &(before & WAITERS | OWNER_DIED).to_le_bytes());
    if let Some(mutex) = objects.mutexes.get_mut(&memory.shared_files.original(at)) {
        (mutex.owner, mutex.depth) = (None, 0);
    }
    if before & WAITERS != 0 {
        let futex = futexes::futex_at(memory, at, false);
        futexes::wake(scheduling, objects, futex, Futex::ANY, 1, outcome, id);
    }
}

/// The words of the robust mutexes that a thread holds, in the order in which the kernel comes to them. The C library writes the
/// thread's real number there, and a program the one that it is told.
pub(crate) fn held_at_end(
    tracee: &Tracee,
    scheduling: &Scheduling,
    objects: &Objects,
    index: ThreadIndex,
) -> Vec<u64> {
    /// The kernel goes no further either.
    const MOST: usize = 2048;
    /// Offsets in `struct robust_list_head`.
    const OFFSET: u64 = 8;
    const UNFINISHED: u64 = 16;
    let tid = tracee.tasks[index].tid;
    // A process that was forked has no list at first, so that main's mutexes are left here alone.
    let Some(head) = process::robust_list(tid) else { return mutexes_of(objects, index) };
    // One bit of a pointer says that the mutex inherits priorities.
    let follow = |at: u64| tracee.number(at, 8) & !1;
    let is_entry = |entry: &u64| *entry != 0 && *entry != head;
    let entries = std::iter::successors(Some(follow(head)), |&entry| Some(follow(entry)));
    let unfinished = Some(follow(head + UNFINISHED)).filter(is_entry);
    let entries = entries.take_while(is_entry).take(MOST).chain(unfinished);
    let offset = tracee.number(head + OFFSET, 8);
    let words = entries.map(|entry| entry.wrapping_add(offset));
    let numbers = [tid as u64, scheduling.threads[index].virtual_system.tid as u64];
    let is_held = |word: &u64| numbers.contains(&(tracee.number(*word, 4) & OWNER));
    let mut held: Vec<u64> = words.filter(is_held).collect();
    held.dedup();
    held
}

/// The robust mutexes that a thread was seen to take.
fn mutexes_of(objects: &Objects, index: ThreadIndex) -> Vec<u64> {
    let of_thread = objects.mutexes.iter().filter(|(_, m)| m.robust && m.owner == Some(index));
    let mut held: Vec<u64> = of_thread.map(|(&at, _)| at).collect();
    held.sort_unstable();
    held
}
