//! The creation of a thread: it gets a name, and comes under control.

use std::ops::Range;

use checker::account::Unwatched;
use checker::account::UnwatchedKind;
use checker::program::ExecutionError;
use checker::refusal::UnsupportedFeature;

use crate::control::kernel::process_exit;
use crate::control::memory::access;
use crate::control::state::account::Account;
use crate::control::state::memory::MemoryState;
use crate::control::state::scheduling::Scheduling;
use crate::control::state::thread::Thread;
use crate::control::state::thread_index::ThreadIndex;
use crate::control::tracee::{PAGE, Task, Tracee, stacks};
use crate::error::{SystemAction, system};
use crate::os::{Regs, Tid, ptrace};

/// The end of the memory that the C library has for a thread: above the stack lie its thread-local variables and its control
/// block, and a later thread may get all of it.
fn with_control_block(stack_end: u64, control_block: u64) -> u64 {
    /// The variables are at most so large, or memory of their own.
    const VARIABLES: u64 = 1 << 20;
    let is_above = (stack_end..stack_end.saturating_add(VARIABLES)).contains(&control_block);
    if is_above { (control_block + 1).next_multiple_of(PAGE) } else { stack_end }
}

/// A thread was created: names it and takes control of it.
pub(crate) fn created(
    tracee: &mut Tracee,
    scheduling: &mut Scheduling,
    memory: &mut MemoryState,
    account: &mut Account,
    index: ThreadIndex,
) -> Result<(), ExecutionError> {
    note_raw_clone(tracee, memory, account, index)?;
    access::plant_for_company(tracee, memory)?;
    let parent = tracee.tasks[index].tid;
    let tid = ptrace::event_message(parent).map_err(system(SystemAction::ReadEvent))? as Tid;
    tracee.wait_for_report_soon(tid)?;
    process_exit::watch_leader(tracee, index, tid)?;
    let regs = ptrace::registers(tid).map_err(system(SystemAction::ReadRegisters))?;
    tracee.read_registers(index)?;
    let (stack, tid_word) = clone_arguments(tracee, index, &regs);
    let creator = &mut scheduling.threads[index];
    creator.children += 1;
    let name = creator.name.child(creator.children).ok_or(UnsupportedFeature::NestedThreads)?;
    let virtual_system = creator.virtual_system.of_child(name);
    let mut task = Task::new(tid, regs, tid_word);
    task.role = tracee.role_of_child(index);
    task.stops_at_exit = tracee.tasks[index].stops_at_exit;
    if tracee.layout.asks_for_ends && !task.stops_at_exit {
        task.stops_at_exit = true;
        ptrace::stop_at_exit(tid, true).map_err(system(SystemAction::TraceThreadEnd))?;
    }
    let child = scheduling.threads.push(Thread::new(name, virtual_system));
    tracee.tasks.push(task);
    memory.heap.renamed.push(stack.clone());
    memory.stacks.push((stack, memory.knowledge.stack_name(name)));
    scheduling.newborn.push(child);
    memory.sharing.created(child, index);
    memory.sharing.named(name, scheduling.threads[index].name);
    Ok(())
}

/// The new thread's stack, and the address of the word that the kernel is to clear when it ends. `clone3` gives the whole stack
/// in its argument, `clone` only its end.
fn clone_arguments(tracee: &Tracee, creator: ThreadIndex, child: &Regs) -> (Range<u64>, Option<u64>) {
    /// The words of `struct clone_args`, as far as they matter.
    const WORDS: usize = 7;
    const CHILD_TID: usize = 2;
    const STACK: usize = 5;
    const STACK_SIZE: usize = 6;
    let regs = &tracee.tasks[creator].regs;
    let known = |word: u64| (word != 0).then_some(word);
    if regs.orig_rax as i64 == libc::SYS_clone3 {
        let bytes = tracee.read(regs.rdi, 8 * WORDS);
        let word = |i: usize| {
            let bytes = bytes.get(8 * i..8 * i + 8).and_then(|bytes| bytes.try_into().ok());
            bytes.map_or(0, u64::from_le_bytes)
        };
        let low = word(STACK);
        let high = low.saturating_add(word(STACK_SIZE));
        return (low..with_control_block(high, child.fs_base), known(word(CHILD_TID)));
    }
    let top = child.rsp.max(child.fs_base);
    (top.saturating_sub(1 << 20)..top.saturating_add(0x1000), known(regs.r10))
}

/// The C library is about to create a thread for itself, as `aio_read`, `getaddrinfo_a` and `mq_notify` have it do: all that such a
/// thread does is done inside the library, which is not watched. The one of `timer_create` waits for timers, which are agents; the
/// one of `thrd_create` is the program's.
pub(crate) fn note_helper(
    tracee: &mut Tracee,
    memory: &mut MemoryState,
    account: &mut Account,
    index: ThreadIndex,
) -> Result<(), ExecutionError> {
    const KNOWN: [&str; 2] = ["timer_create", "thrd_create"];
    // A helper's own threads are of the call that has made the helper.
    let Some(called) = stacks::libc_function_called(tracee, index) else { return Ok(()) };
    if !KNOWN.iter().any(|known| called.ends_with(known)) {
        account.enter_unwatched(Unwatched::call(UnwatchedKind::Task, &called));
        access::begin_concurrency(tracee, memory)?;
    }
    Ok(())
}

/// The running thread is about to create one. What a system library has threads of its own do is not seen, unless their function is watched
/// as well.
pub(crate) fn note_thread_of_library(tracee: &Tracee, account: &mut Account, index: ThreadIndex) {
    /// The argument of `pthread_create` that is the function of the new thread.
    const FUNCTION: usize = 2;
    let layout = &tracee.layout;
    let Some(creator) = stacks::creator(tracee, index).filter(|&pc| layout.in_system_library(pc)) else {
        return;
    };
    let function = tracee.tasks[index].argument(FUNCTION);
    if !(layout.is_reached(creator) && (layout.is_reached(function) || layout.in_user_code(function))) {
        let called = stacks::library_function_called(tracee, index).unwrap_or(creator);
        let module = layout.module_at(called);
        account.enter_unwatched(module.map_or_else(
            || Unwatched::of(UnwatchedKind::LibraryFunction),
            |(_, module)| module.unwatched(UnwatchedKind::LibraryFunction, called),
        ));
    }
}

/// The running thread has created one. One that does not get thread-local memory of its own is none of the C library's:
/// it was made by `clone` itself, perhaps the first one there is, and what it uses of the library is not known.
pub(crate) fn note_raw_clone(
    tracee: &mut Tracee,
    memory: &mut MemoryState,
    account: &mut Account,
    index: ThreadIndex,
) -> Result<(), ExecutionError> {
    tracee.read_registers(index)?;
    let regs = &tracee.tasks[index].regs;
    let flags = match regs.orig_rax as i64 {
        libc::SYS_clone3 => tracee.number(regs.rdi, 8),
        _ => regs.rdi,
    };
    if flags & libc::CLONE_SETTLS as u64 == 0 {
        account.enter_unwatched(Unwatched::call(UnwatchedKind::Task, "clone"));
        access::begin_concurrency(tracee, memory)?;
    }
    Ok(())
}
