//! Threads that come to no key point for as long as they may run: the memory that the loop of one reads may be what another
//! thread is to change, and its reads are key points from then on.
//!
//! A thread that waits for a flag in a loop that counts its rounds does not spin as [`crate::control::loops::spin`] has it, and
//! as long as no thread has written the flag, no two threads share it. A loop that is looked at here would be cut short
//! otherwise; a long calculation would be, too, and goes on one event at a time, which a note tells.
//!
//! A loop that comes back to where it was, with the same registers and the same memory, and has looked at nothing meanwhile that
//! another thread could change, never ends: that is a livelock, whatever the time that it has had.

use std::cmp::Reverse;

use checker::names::Obj;
use checker::peculiarity::Peculiarity;
use checker::program::ExecutionError;
use iced_x86::{Instruction, InstructionInfoFactory, Mnemonic};

use crate::control::loops::spin::Iteration;
use crate::control::loops::{spin, trial};
use crate::control::state::account::Account;
use crate::control::state::memory::MemoryState;
use crate::control::state::scheduling::Scheduling;
use crate::control::state::spinning::same_registers;
use crate::control::state::thread_index::ThreadIndex;
use crate::control::tracee::{Tracee, probes};
use crate::error::{SystemAction, system};
use crate::layout::TrapKind;
use crate::os::{memory, ptrace};

/// The longest round of a loop that is looked at, in instructions.
const LONGEST: u32 = 20_000;

/// An instruction, the address that it reads, and the number of bytes.
type LoopRead = (u64, u64, usize);

/// The reads and writes of a round of a loop.
#[derive(Default)]
struct LoopIteration {
    reads: Vec<LoopRead>,
    writes: Vec<u64>,
}

/// Whether an instruction calls the kernel.
fn is_call(instruction: Instruction) -> bool {
    matches!(instruction.mnemonic(), Mnemonic::Syscall | Mnemonic::Int)
}

/// The running thread has been stopped between key points, and its time is over. If it goes round in a loop, makes what
/// that reads and leaves as it is key points. `false`: there is nothing new in that, and the thread is late.
pub(crate) fn learns_from_runaway(
    tracee: &mut Tracee,
    scheduling: &Scheduling,
    memory: &mut MemoryState,
    account: &mut Account,
    index: ThreadIndex,
) -> Result<bool, ExecutionError> {
    let thread = &scheduling.threads[index];
    // A step inside a system call would go on with that.
    let is_inside_call = tracee.tasks[index].regs.orig_rax as i64 >= 0;
    if is_inside_call
        || is_alone(scheduling, memory)
        || thread.cancellation.asynchronous
        || !tracee.knowledge.may_learn_more()
    {
        return Ok(false);
    }
    probes::hide(tracee)?;
    let looks = looks(tracee, memory, index)?;
    probes::show(tracee)?;
    watch_from_now_on(tracee, memory, account, index, &looks)
}

/// Whether no other thread, and no handler of a timer's signal, could change anything.
fn is_alone(scheduling: &Scheduling, memory: &MemoryState) -> bool {
    scheduling.threads.iter().filter(|thread| thread.is_live()).count() < 2 && !memory.sharing.handles
}

/// A circle in which a thread goes, with the same registers and the same memory each time round.
pub(crate) struct RepeatedState {
    /// Its outermost and first place, which is the same in all executions.
    place: (Reverse<u64>, u64),
    /// Reads of the thread's own stack and thread-local variables in it, of bytes that it does not write: addresses and lengths in bytes.
    /// Another thread may have such an address; nothing else could end the circle.
    pub(crate) looks: Vec<(u64, usize)>,
}

/// The running thread has been stopped between key points. If it goes round in a circle, lets it go on to that one's place.
pub(crate) fn goes_round(
    tracee: &mut Tracee,
    scheduling: &Scheduling,
    memory: &MemoryState,
    index: ThreadIndex,
) -> Result<Option<RepeatedState>, ExecutionError> {
    let thread = &scheduling.threads[index];
    if tracee.tasks[index].regs.orig_rax as i64 >= 0 || thread.cancellation.asynchronous {
        return Ok(None);
    }
    probes::hide(tracee)?;
    let mut circle = circle(tracee, memory, index)?;
    if let Some(RepeatedState { place, looks }) = &mut circle {
        if is_alone(scheduling, memory) {
            looks.clear();
        }
        for _ in 0..LONGEST {
            let regs = tracee.tasks[index].regs;
            if *place == (Reverse(regs.rsp), regs.rip) || !spin::single_step(tracee, memory, index, &regs)? {
                break;
            }
        }
    }
    probes::show(tracee)?;
    Ok(circle)
}

/// The circle in which the thread goes.
fn circle(
    tracee: &mut Tracee,
    memory: &MemoryState,
    index: ThreadIndex,
) -> Result<Option<RepeatedState>, ExecutionError> {
    // Only a step leaves all flags as code can see them.
    let regs = tracee.tasks[index].regs;
    if spin::instruction(tracee, memory, regs.rip).is_none_or(is_call)
        || !spin::single_step(tracee, memory, index, &regs)?
    {
        return Ok(None);
    }
    let tid = tracee.tasks[index].tid;
    let extended = || ptrace::extended_state(tid).map_err(system(SystemAction::ReadRegisters));
    let (start, start_extended) = (tracee.tasks[index].regs, extended()?);
    let mut info = InstructionInfoFactory::new();
    let mut passed = Iteration::default();
    let mut first = (Reverse(start.rsp), start.rip);
    for _ in 0..LONGEST {
        let regs = tracee.tasks[index].regs;
        first = first.min((Reverse(regs.rsp), regs.rip));
        let Some(instruction) = spin::instruction(tracee, memory, regs.rip) else { return Ok(None) };
        let trap = tracee.layout.traps.get(&regs.rip).map(|trap| &trap.kind);
        let is_plain = !is_call(instruction) && matches!(trap, None | Some(TrapKind::Access(_)));
        let noted = passed.reads.len();
        if !is_plain || !spin::note_memory(tracee, &instruction, &regs, &mut info, &mut passed) {
            return Ok(None);
        }
        let may_change = |&(addr, _): &(u64, usize)| {
            !trial::owns(tracee, memory, index, addr) && trial::is_writable_data(tracee, addr)
        };
        if passed.reads[noted..].iter().any(may_change) || !spin::single_step(tracee, memory, index, &regs)? {
            return Ok(None);
        }
        let is_back = same_registers(&start, &tracee.tasks[index].regs) && spin::unchanged(tracee, &passed);
        // Vectors and floating-point numbers count as well: a calculation may be in these alone.
        if is_back && extended()? == start_extended {
            let is_left = |&(addr, len): &(u64, usize)| {
                trial::is_writable_data(tracee, addr) && !passed.stores_into(addr, len)
            };
            let looks = passed.reads.iter().copied().filter(is_left).collect();
            return Ok(Some(RepeatedState { place: first, looks }));
        }
    }
    Ok(None)
}

/// The memory that the thread's loop reads in each round, and leaves as it is. Memory that is read in one round only is no
/// flag, but gone through; that on the thread's own stack is mostly used by no other thread.
fn looks(
    tracee: &mut Tracee,
    memory: &MemoryState,
    index: ThreadIndex,
) -> Result<Vec<LoopRead>, ExecutionError> {
    let Some(first) = round(tracee, memory, index)? else { return Ok(Vec::new()) };
    let Some(second) = round(tracee, memory, index)? else { return Ok(Vec::new()) };
    let is_left = |look: &LoopRead| !first.writes.contains(&look.1) && !second.writes.contains(&look.1);
    let is_repeated = |look: &LoopRead| second.reads.contains(look) && is_left(look);
    Ok(first.reads.iter().filter(|look| is_repeated(look)).copied().collect())
}

/// Makes instructions key points where they read this, in this execution too. `false`: they were already.
fn watch_from_now_on(
    tracee: &Tracee,
    memory: &mut MemoryState,
    account: &mut Account,
    index: ThreadIndex,
    looks: &[LoopRead],
) -> Result<bool, ExecutionError> {
    let candidate = |at: u64| match tracee.layout.traps.get(&at)?.kind {
        TrapKind::Access(candidate) => Some(candidate),
        _ => None,
    };
    let looks: Vec<(usize, LoopRead)> =
        looks.iter().filter_map(|look| Some((candidate(look.0)?, *look))).collect();
    let candidates: Vec<usize> = looks.iter().map(|&(candidate, _)| candidate).collect();
    let shared: Vec<Obj> =
        looks.iter().map(|&(_, (_, addr, len))| memory.stretch(addr, len as u64)).collect();
    if looks.is_empty() || !tracee.knowledge.promote(&candidates, None, &shared) {
        return Ok(false);
    }
    memory.promoted = true;
    tracee.knowledge.note_runaway();
    account.note(Peculiarity::RunsLongInLoop);
    let tid = tracee.tasks[index].tid;
    for (_, (at, ..)) in looks {
        memory::poke_byte(tid, at, 0xcc).map_err(system(SystemAction::PlantTraps))?;
    }
    tracee.watch.begin(tracee.leader, tid);
    Ok(true)
}

/// Steps a thread until it is back where it is, and says what it touched on the way; `None`, if it does not come back, or
/// does something on the way that cannot be stepped.
fn round(
    tracee: &mut Tracee,
    memory: &MemoryState,
    index: ThreadIndex,
) -> Result<Option<LoopIteration>, ExecutionError> {
    let start = tracee.tasks[index].regs.rip;
    let mut info = InstructionInfoFactory::new();
    let mut round = LoopIteration::default();
    for _ in 0..LONGEST {
        let regs = tracee.tasks[index].regs;
        let Some(instruction) = spin::instruction(tracee, memory, regs.rip) else { return Ok(None) };
        let mut touched = Iteration::default();
        let trap = tracee.layout.traps.get(&regs.rip).map(|trap| &trap.kind);
        if is_call(instruction)
            || !matches!(trap, None | Some(TrapKind::Access(_)))
            || !spin::note_memory(tracee, &instruction, &regs, &mut info, &mut touched)
            || !spin::single_step(tracee, memory, index, &regs)?
        {
            return Ok(None);
        }
        let is_others =
            |addr: u64| !trial::owns(tracee, memory, index, addr) && trial::is_writable_data(tracee, addr);
        let reads = touched.reads.into_iter().filter(|&(addr, _)| is_others(addr));
        round.reads.extend(reads.map(|(addr, len)| (regs.rip, addr, len)));
        round.writes.extend(touched.stores.into_iter().map(|(addr, _)| addr));
        // A round of an inner loop may look at nothing.
        if tracee.tasks[index].regs.rip == start && !round.reads.is_empty() {
            return Ok(Some(round));
        }
    }
    Ok(None)
}
