//! Heap objects by name: the thread that allocated them, the place, and the number of the allocation there.
//!
//! Two threads that allocate get addresses that depend on which came first, and a freed address is used again. So where threads
//! share heap memory, the allocator's functions are trapped from the first thread creation on.
//!
//! Up to then every execution allocates alike. The blocks that have been allocated by then are found out once, in the first
//! execution that needs to know: the C library's heap tells those that there are at `main`, and allocations are trapped from
//! there on; all later executions take them over without a stop.

use std::sync::Arc;

use checker::names::{Obj, Site, ThreadName};
use checker::peculiarity::Peculiarity;
use checker::program::ExecutionError;

use crate::control::memory::blocks::{early_blocks, quarantine};
use crate::control::memory::unwatched_uses;
use crate::control::state::account::Account;
use crate::control::state::flow::Flow;
use crate::control::state::memory::MemoryState;
use crate::control::state::memory::heap::{AllocationInProgress, Request};
use crate::control::state::scheduling::Scheduling;
use crate::control::state::thread_index::ThreadIndex;
use crate::control::tracee::{Tracee, late_files, stacks};
use crate::error::{BrokenExecution, SystemAction, system};
use crate::instructions::detour::access_logging::ARGUMENTS;
use crate::layout::allocator::Allocator;
use crate::os::memory;

/// The number of calls of the allocator in one execution, each of which costs two stops, after which blocks are not named any
/// more.
const MOST: u32 = 5_000;

/// The same for what main allocates before there are threads, which is watched once only.
const MOST_EARLY: u32 = 50_000;

/// Before the target's first instruction: traps the allocator if the blocks that main allocates are not known yet, and are to be. A test
/// harness has threads that wait by the time that the test creates its first: what they wait at is named like the rest.
pub(crate) fn survey(tracee: &Tracee, memory: &mut MemoryState) -> Result<(), ExecutionError> {
    memory.heap.early = memory.knowledge.early_blocks();
    memory.heap.surveys = memory.knowledge.wants_early_blocks();
    if memory.heap.surveys {
        let layout = Arc::clone(&memory.layout);
        for (entry, _) in layout.allocator_entries() {
            memory::poke_byte(tracee.leader, entry, 0xcc).map_err(system(SystemAction::PlantTraps))?;
        }
        // The places that asked for them are not known.
        let (thread, site) = (ThreadName::MAIN, Site::default());
        for block in early_blocks::before_main(tracee) {
            let count = memory.heap.count(thread, site.0);
            let name = memory.knowledge.heap_name(thread, site, count, || (site, site));
            memory.heap.add(block.start, block.end - block.start, name);
        }
    }
    Ok(())
}

/// The first thread is about to be created.
pub(crate) fn end_survey(memory: &mut MemoryState) {
    if std::mem::take(&mut memory.heap.surveys) {
        memory.knowledge.keep_early_blocks(std::mem::take(&mut memory.heap.blocks));
        memory.heap.early = memory.knowledge.early_blocks();
    }
    memory.heap.calls = 0;
    memory.heap.names = memory.knowledge.watches_allocator();
}

/// Names no more blocks in this execution: what comes allocates too much for what the names are worth.
fn leave_allocations_unnamed(tracee: &Tracee) -> Result<(), ExecutionError> {
    let layout = Arc::clone(&tracee.layout);
    tracee.lift_entries(layout.allocator_entries().map(|(entry, _)| entry))
}

/// Counts a call of the allocator.
fn count_call(
    tracee: &Tracee,
    memory: &mut MemoryState,
    account: &mut Account,
) -> Result<(), ExecutionError> {
    memory.heap.calls += 1;
    if memory.heap.calls == if memory.heap.surveys { MOST_EARLY } else { MOST } {
        leave_allocations_unnamed(tracee)?;
        memory.heap.left_unnamed = true;
        if memory.heap.names {
            account.note(Peculiarity::AllocatesOften);
        }
    }
    Ok(())
}

/// Whether a block that a thread frees is not kept, though it may have a name: a harness takes no part.
fn is_let_go(tracee: &Tracee, memory: &MemoryState, index: ThreadIndex) -> bool {
    memory.heap.names && tracee.is_of_harness(index)
}

/// A thread has called `free` without a stop, with what was taken down of that.
pub(crate) fn note_logged_free(
    tracee: &Tracee,
    memory: &mut MemoryState,
    account: &mut Account,
    index: ThreadIndex,
    taken_down: [u64; ARGUMENTS],
) -> Result<(), ExecutionError> {
    if is_let_go(tracee, memory, index) {
        memory.heap.forget(taken_down[0]);
        return Ok(());
    }
    // The log goes on behind the last call that counts.
    if !memory.heap.left_unnamed {
        count_call(tracee, memory, account)?;
        quarantine::note_logged(tracee, memory, index, taken_down);
    }
    Ok(())
}

/// A thread stands at the entry of a function of the allocator.
pub(crate) fn enter_allocator(
    tracee: &mut Tracee,
    scheduling: &mut Scheduling,
    memory: &mut MemoryState,
    account: &mut Account,
    index: ThreadIndex,
    what: Allocator,
) -> Result<Flow, ExecutionError> {
    if memory.heap.left_unnamed && memory.heap.calls >= MOST && !memory.heap.surveys {
        // Detours have been put back meanwhile.
        tracee.pass_trap(index)?;
        return Ok(Flow::Resume(0));
    }
    let argument = |i: usize| tracee.tasks[index].argument(i);
    if what == Allocator::Free && (argument(0) == 0 || is_let_go(tracee, memory, index)) {
        memory.heap.forget(argument(0));
        tracee.pass_trap(index)?;
        return Ok(Flow::Resume(0));
    }
    count_call(tracee, memory, account)?;
    let mut into = None;
    let size = match what {
        Allocator::Free => return quarantine::enter_free(tracee, scheduling, memory, account, index),
        Allocator::Allocate { size } => argument(size),
        Allocator::AllocateInto => {
            into = Some(argument(0));
            argument(2)
        }
        Allocator::AllocateMany => argument(0).saturating_mul(argument(1)),
        Allocator::Resize => argument(1),
    };
    if what == Allocator::Resize {
        let resized = argument(0);
        if let Some(flow) = quarantine::enter_resize(tracee, scheduling, memory, account, index, resized)? {
            return Ok(flow);
        }
        memory.heap.forget(resized);
    }
    quarantine::await_block(tracee, scheduling, index, Request { size, into, copies: None });
    tracee.pass_trap(index)?;
    Ok(Flow::Resume(0))
}

/// The function has returned, to the trap that was put in its caller's place.
pub(crate) fn leave_allocator(
    tracee: &mut Tracee,
    scheduling: &mut Scheduling,
    memory: &mut MemoryState,
    account: &mut Account,
    index: ThreadIndex,
) -> Result<(), ExecutionError> {
    let Some(AllocationInProgress { wanted, back }) = scheduling.threads[index].allocating.take() else {
        return Err(BrokenExecution::NoAllocation.into());
    };
    tracee.tasks[index].regs.rip = back;
    let result = tracee.tasks[index].regs.rax;
    let Request { size, into, copies } = wanted;
    let addr = match into {
        None => result,
        Some(into) if result == 0 => tracee.number(into, 8),
        Some(_) => 0,
    };
    if addr != 0 {
        let thread = scheduling.threads[index].name;
        let site = late_files::site(tracee, back);
        let count = memory.heap.count(thread, site.0);
        let name =
            memory.knowledge.heap_name(thread, site, count, || stacks::call_through(tracee, index, back));
        let block = Obj { name, offset: 0, len: u32::MAX };
        if memory.heap.surveys || memory.knowledge.is_shared(block) {
            let stack = stacks::stack_of_call(tracee, index, back);
            memory.heap.blocks.origins.insert(name, (thread, stack));
        }
        memory.heap.add(addr, size.max(1), name);
        // Accesses of earlier blocks at these addresses were accesses of other memory.
        let block = addr..addr.saturating_add(size);
        memory.sharing.forget(&block);
        unwatched_uses::forget(memory, &block);
        memory.quarantine.note_allocation(size);
        if let Some((from, len)) = copies {
            tracee.write(addr, &tracee.read(from, len as usize));
            let stack = stacks::stack_of_call(tracee, index, back);
            quarantine::keep(scheduling, memory, account, index, from, stack);
        }
    }
    tracee.write_registers(index)
}
