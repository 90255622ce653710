//! Stacks and thread-local memory that other threads than their own touch: what works on them is watched, and they get names.

use std::ops::Range;

use checker::names::Obj;
use checker::names::ObjName;

use crate::control::knowledge::lessons::Local;
use crate::control::state::memory::MemoryState;
use crate::control::state::scheduling::Scheduling;
use crate::control::state::thread_index::ThreadIndex;
use crate::control::tracee::Tracee;
use crate::control::tracee::stacks::STACK_DEPTH;
use crate::debuginfo;

/// If an address is in the thread-local memory of another thread, the instructions that work on such memory are watched from
/// now on.
pub(crate) fn expose_thread_locals(
    tracee: &Tracee,
    scheduling: &Scheduling,
    memory: &mut MemoryState,
    index: ThreadIndex,
    addr: u64,
) {
    /// Variables lie below the control block of their thread.
    const MOST: u64 = 16 << 10;
    let is_in = |base: u64| (base.saturating_sub(MOST)..base).contains(&addr);
    let mut others = scheduling.threads.enumerate().filter(|(i, thread)| *i != index && thread.is_live());
    if memory.exposed_thread_locals || !others.any(|(i, _)| is_in(tracee.tasks[i].regs.fs_base)) {
        return;
    }
    memory.exposed_thread_locals = true;
    let layout = std::sync::Arc::clone(&memory.layout);
    let all = layout.candidates.iter().enumerate().filter(|(_, candidate)| candidate.thread_local);
    if memory.shared.expose(all.map(|(i, _)| i)) {
        memory.promoted = true;
    }
}

/// The frame of `owner` that holds an address is touched by another thread: the instructions of its function that
/// work on the frame are watched from now on.
pub(crate) fn expose(
    tracee: &Tracee,
    scheduling: &Scheduling,
    memory: &mut MemoryState,
    owner: ThreadIndex,
    addr: u64,
) {
    if !memory.exposed.insert(addr) {
        return;
    }
    let Some((function, inner)) = frame_functions(tracee, owner, addr) else { return };
    let Obj { name, offset, .. } = memory.object(addr, 1);
    name_local(tracee, scheduling, (name, offset), function.start, false, (owner, addr));
    let layout = std::sync::Arc::clone(&memory.layout);
    // An argument passed on the stack lies in the caller's frame, and the callee works on it.
    let is_inside = |at: u64| function.contains(&at) || inner.as_ref().is_some_and(|code| code.contains(&at));
    let inside = layout.candidates.iter().enumerate().filter(|(_, c)| is_inside(c.addr));
    if memory.shared.expose(inside.map(|(i, _)| i)) {
        memory.promoted = true;
    }
}

/// A synchronisation object on the stack of another thread is used: finds out which variable it is.
pub(crate) fn name_synchronisation(
    tracee: &Tracee,
    scheduling: &Scheduling,
    memory: &MemoryState,
    index: ThreadIndex,
    addr: u64,
) {
    let holds =
        |&owner: &ThreadIndex| scheduling.threads[owner].is_live() && memory.stacks[owner].0.contains(&addr);
    let owner = scheduling.threads.indices().find(holds);
    let Some(owner) = owner.filter(|&owner| owner != index) else { return };
    let Obj { name, offset, .. } = memory.object(addr, 1);
    if !memory.shared.is_local_known((name, offset))
        && let Some((function, _)) = frame_functions(tracee, owner, addr)
    {
        name_local(tracee, scheduling, (name, offset), function.start, true, (owner, addr));
    }
}

/// Remembers which variable is at a place on a stack, an address of which is given with its owner.
fn name_local(
    tracee: &Tracee,
    scheduling: &Scheduling,
    place: (ObjName, u32),
    function: u64,
    if_new: bool,
    (owner, addr): (ThreadIndex, u64),
) {
    let local = Local { place, function, words: None, if_new };
    tracee.shared.name_local(local, scheduling.events, || tracee.local_at(owner, addr));
}

/// The code of the function in whose frame an address is, and of the one that it has called.
fn frame_functions(
    tracee: &Tracee,
    owner: ThreadIndex,
    addr: u64,
) -> Option<(Range<u64>, Option<Range<u64>>)> {
    let frames = tracee.raw_frames(owner, STACK_DEPTH);
    let at = frames.iter().position(|frame: &debuginfo::Frame| addr < frame.cfa)?;
    // The innermost frame's place is no return address.
    let code = |at: usize| tracee.layout.function_code(frames[at].pc.wrapping_sub(u64::from(at > 0)));
    Some((code(at)?, at.checked_sub(1).and_then(code)))
}
