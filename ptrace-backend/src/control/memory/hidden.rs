//! Accesses of memory by code of system libraries that is not watched, traced for once: they tell the order that the locks and
//! barriers of such libraries give ([`checker::program::Scope::Hidden`]).

use std::sync::Arc;

use checker::account::HiddenAccess;
use checker::byte_set::ByteSet;
use checker::operation::{Access, OpKind};
use checker::position::Position;
use checker::program::{ExecutionError, Scope};

use crate::control::state::flow::Flow;
use crate::control::state::memory::MemoryState;
use crate::control::state::memory::hidden::Hidden;
use crate::control::state::scheduling::Scheduling;
use crate::control::state::thread_index::ThreadIndex;
use crate::control::tracee::Tracee;
use crate::control::tracee::machine::accesses_of;
use crate::error::{SystemAction, system};
use crate::instructions::{AccessKind, Candidate};
use crate::layout::functions::TrappedFunction;
use crate::os::memory::{self, MemoryFile};

/// The number of times that a thread may come to an instruction between two events and do nothing new there: then it waits in a
/// loop, and what the instruction does later is not traced.
const OFTEN: u32 = 1_000;

/// The number of accesses that are traced in an execution.
const MOST: usize = 400_000;

/// Accesses of the program's own code are among them as long as there are no more than these.
const MOST_WITH_OWN: usize = 200_000;

/// Plants the traps, where they are asked for, beside those of watched instructions.
pub(crate) fn plant(tracee: &Tracee, memory: &mut MemoryState) -> std::io::Result<bool> {
    if memory.scope != Scope::Hidden {
        return Ok(false);
    }
    let layout = Arc::clone(&memory.layout);
    let code = layout.hidden_code();
    for &addr in code.keys().filter(|addr| !layout.traps.contains_key(addr)) {
        let mut byte = [0];
        if memory::read(tracee.pristine, addr, &mut byte) {
            memory.hidden.trapped.insert(addr, byte[0]);
        }
    }
    // Beside libraries, what the program's own code does to their words matters although it is no event.
    let lifted = if code.is_empty() { Vec::new() } else { memory.knowledge.lifted(&layout) };
    let addresses = code.keys().copied().chain(lifted);
    let code = memory.knowledge.armed_code_with(&layout, tracee.pristine, addresses);
    code.plant_beside(tracee.leader, &layout, &memory.written_code)?;
    Ok(true)
}

/// The running thread may stand behind the trap of such an instruction: takes note of what it does, and lets it pass.
pub(crate) fn pass(
    tracee: &mut Tracee,
    scheduling: &Scheduling,
    memory: &mut MemoryState,
    index: ThreadIndex,
    at: u64,
) -> Result<Option<Flow>, ExecutionError> {
    let Some(&byte) = memory.hidden.trapped.get(&at) else { return Ok(None) };
    tracee.tasks[index].regs.rip = at;
    begin_segment(tracee, scheduling, memory, index).map_err(system(SystemAction::PlantTraps))?;
    let is_seen = tracee.in_harness(index) || note_access(tracee, scheduling, memory, index, at);
    memory.hidden.is_cut |= is_seen && !tracee.in_harness(index) && !is_same_each_time(memory, at);
    if memory.hidden.accesses.len() > MOST {
        memory.hidden.is_cut = true;
        lift(tracee, memory, tracee.leader);
        tracee.write_registers(index)?;
    } else if is_seen {
        memory::poke_byte(tracee.leader, at, byte).map_err(system(SystemAction::LiftTraps))?;
        memory.hidden.lifted.push(at);
        tracee.write_registers(index)?;
    } else {
        tracee.step_in_place(index, at, byte)?;
    }
    Ok(Some(Flow::Resume(0)))
}

/// The running thread stands at the trap of a function that such code begins with: takes note of what its first instruction does.
pub(crate) fn enter_function(
    tracee: &Tracee,
    scheduling: &Scheduling,
    memory: &mut MemoryState,
    index: ThreadIndex,
) -> Result<(), ExecutionError> {
    let at = tracee.tasks[index].regs.rip;
    if memory.hidden.trapped.is_empty()
        || tracee.in_harness(index)
        || !memory.layout.hidden_code().contains_key(&at)
    {
        return Ok(());
    }
    begin_segment(tracee, scheduling, memory, index).map_err(system(SystemAction::PlantTraps))?;
    note_access(tracee, scheduling, memory, index, at);
    Ok(())
}

/// The running thread is at a function of the C library on objects for synchronisation, called by that library itself. It is no event; what
/// it does to its object is one of the accesses.
pub(crate) fn enter_call(
    tracee: &Tracee,
    scheduling: &Scheduling,
    memory: &mut MemoryState,
    index: ThreadIndex,
    function: TrappedFunction,
) {
    if memory.scope != Scope::Hidden || !tracee.concurrent || !function.is_on_object() {
        return;
    }
    let task = &tracee.tasks[index];
    let object = task.argument(0);
    note_synchronisation(scheduling, memory, index, object);
    if function.waits_for_signal() {
        note_synchronisation(scheduling, memory, index, task.argument(1));
        memory.hidden.taking.insert(index, task.argument(1));
    } else {
        memory.hidden.taking.insert(index, object);
    }
}

/// The running thread goes on from an operation. If it has waited for a futex within such a call, or has not had to, it may take the object
/// of that next.
pub(crate) fn go_on(scheduling: &Scheduling, memory: &mut MemoryState, index: ThreadIndex, from: OpKind) {
    if matches!(from, OpKind::FutexWait | OpKind::FutexResume)
        && let Some(&object) = memory.hidden.taking.get(&index)
    {
        note_synchronisation(scheduling, memory, index, object);
    }
}

fn note_synchronisation(scheduling: &Scheduling, memory: &mut MemoryState, index: ThreadIndex, object: u64) {
    let (after, thread) = (Position::after(scheduling.events as usize), scheduling.threads[index].name);
    let access = Access::write(memory.object(object, 1));
    memory.hidden.accesses.push((HiddenAccess { after, thread, access, indivisible: true }, false));
}

/// Another thread or event has begun: what was seen often enough is looked at again.
fn begin_segment(
    tracee: &Tracee,
    scheduling: &Scheduling,
    memory: &mut MemoryState,
    index: ThreadIndex,
) -> std::io::Result<()> {
    let now = (Position::after(scheduling.events as usize), scheduling.threads[index].name);
    if memory.hidden.segment.replace(now) == Some(now) {
        return Ok(());
    }
    memory.hidden.since.clear();
    memory.hidden.visits.clear();
    for at in std::mem::take(&mut memory.hidden.lifted) {
        memory::poke_byte(tracee.leader, at, 0xcc)?;
    }
    Ok(())
}

/// Whether an instruction touches the same memory each time. Until another thread or event, that tells nothing new.
fn is_same_each_time(memory: &MemoryState, at: u64) -> bool {
    memory.layout.hidden_code().get(&at).is_some_and(|instruction| instruction.fixed_address().is_some())
}

/// The running thread passes an access of the program's own code, which is no event: libraries may touch what it touches, and nothing else.
/// `true`: it has been noted often enough.
pub(crate) fn pass_own(
    tracee: &Tracee,
    scheduling: &Scheduling,
    memory: &mut MemoryState,
    index: ThreadIndex,
    instruction: &Candidate,
) -> Result<bool, ExecutionError> {
    if memory.hidden.trapped.is_empty() || memory.hidden.accesses.len() > MOST_WITH_OWN {
        return Ok(true);
    }
    begin_segment(tracee, scheduling, memory, index).map_err(system(SystemAction::PlantTraps))?;
    note(tracee, scheduling, memory, index, instruction);
    let visits = memory.hidden.own_visits.entry(instruction.addr).or_default();
    *visits += 1;
    Ok(*visits >= OFTEN)
}

/// Takes note of what an instruction does. Whether it has done nothing new for long.
fn note_access(
    tracee: &Tracee,
    scheduling: &Scheduling,
    memory: &mut MemoryState,
    index: ThreadIndex,
    at: u64,
) -> bool {
    let layout = Arc::clone(&memory.layout);
    let Some(instruction) = layout.hidden_code().get(&at) else { return true };
    let is_new = note(tracee, scheduling, memory, index, instruction);
    let visits = memory.hidden.visits.entry(at).or_default();
    *visits = if is_new { 0 } else { *visits + 1 };
    *visits >= OFTEN
}

/// Takes note of accesses. Whether some of them are new since the last event.
fn note(
    tracee: &Tracee,
    scheduling: &Scheduling,
    memory: &mut MemoryState,
    index: ThreadIndex,
    instruction: &Candidate,
) -> bool {
    let indivisible = matches!(instruction.kind, AccessKind::LockedUpdate | AccessKind::CompareExchange);
    let (after, thread) = (Position::after(scheduling.events as usize), scheduling.threads[index].name);
    let mut is_new = false;
    for access in accesses_of(tracee, memory, index, instruction) {
        let is_own = memory.stacks[index].0.contains(&access.addr);
        let obj = memory.object(access.addr, access.len);
        let access = if access.write { Access::write(obj) } else { Access::read(obj) };
        let hidden = HiddenAccess { after, thread, access, indivisible };
        if memory.hidden.since.insert(hidden) {
            memory.hidden.accesses.push((hidden, is_own));
            is_new = true;
        }
    }
    is_new
}

/// Takes the traps out of the code of a process.
pub(crate) fn lift(tracee: &Tracee, memory: &mut MemoryState, of: crate::os::Tid) {
    let Ok(file) = MemoryFile::open(of) else { return };
    for (addr, byte) in &memory.hidden.trapped {
        // A failure means that the process is gone.
        _ = file.write(*addr, &[*byte]);
    }
    if of == tracee.leader {
        memory.hidden.trapped.clear();
    }
}

/// The traced accesses, without those of threads to parts of their own stacks that no other thread touches; `None` where these are not all.
pub(crate) fn take(memory: &mut MemoryState) -> Option<Vec<HiddenAccess>> {
    let Hidden { accesses, is_cut, .. } = std::mem::take(&mut memory.hidden);
    let of_others = accesses.iter().filter(|(_, is_own)| !is_own).map(|(hidden, _)| hidden.access.obj);
    let of_others: ByteSet = of_others.collect();
    let is_lent = |(hidden, is_own): (HiddenAccess, bool)| {
        (!is_own || of_others.overlap(hidden.access.obj)).then_some(hidden)
    };
    (!is_cut).then(|| accesses.into_iter().filter_map(is_lent).collect())
}
