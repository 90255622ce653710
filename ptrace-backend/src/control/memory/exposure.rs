//! Stacks and thread-local memory that other threads than their own touch: the instructions that work on them are watched, and
//! they get names.

use std::ops::Range;

use checker::account::{Unwatched, UnwatchedKind};
use checker::names::Obj;
use checker::names::ObjName;

use crate::control::knowledge::lessons::ObservedLocal;
use crate::control::state::account::Account;
use crate::control::state::memory::{LentFrame, MemoryState};
use crate::control::state::scheduling::Scheduling;
use crate::control::state::thread_index::ThreadIndex;
use crate::control::tracee::stacks::STACK_DEPTH;
use crate::control::tracee::{Tracee, stacks};
use crate::debuginfo;
use crate::instructions::makes_frame_addresses;

/// If an address is in the thread-local memory of another thread, or of one that has ended, the instructions that work on such memory
/// are watched from now on.
pub(crate) fn expose_thread_locals(tracee: &Tracee, memory: &mut MemoryState, index: ThreadIndex, addr: u64) {
    /// Variables lie below the control block of their thread.
    const MOST: u64 = 16 << 10;
    let is_in = |thread: ThreadIndex| {
        let base = tracee.tasks[thread].regs.fs_base;
        (base.saturating_sub(MOST)..base).contains(&addr)
    };
    // A thread may have the memory of one that has ended.
    if memory.exposed_thread_locals || is_in(index) || !tracee.tasks.indices().any(is_in) {
        return;
    }
    memory.exposed_thread_locals = true;
    let layout = std::sync::Arc::clone(&memory.layout);
    let all = layout.candidates.iter().enumerate().filter(|(_, candidate)| candidate.thread_local);
    if memory.knowledge.expose(all.map(|(i, _)| i)) {
        memory.promoted = true;
    }
}

/// An address on the stack of `owner` is touched by another thread. The instructions of the function whose frame holds it then
/// are watched from now on, where they work on the frame.
///
/// The memory of a frame that is gone is another function's, or no function's any more: it lies below the stack of its thread,
/// or that has ended, or it is now in a frame of which no other thread can know, be it one of the C library, which hands its
/// frames to no thread, or of a function that makes no address of what is in its frame. The functions that have used such
/// memory, and will, are not known: all instructions that work on the frames of their functions are watched from then on, and
/// the use is entered in the account, since pushes and calls are not watched.
pub(crate) fn expose(
    tracee: &Tracee,
    scheduling: &Scheduling,
    (memory, account): (&mut MemoryState, &mut Account),
    (index, owner): (ThreadIndex, ThreadIndex),
    addr: u64,
) {
    // The stack of main holds the program's arguments, too, and is there to the end.
    if !scheduling.threads[owner].is_live() && !owner.is_main() {
        if !memory.sharing.is_after_end(index, owner) {
            expose_dead_frames(memory, account);
        }
        return;
    }
    if is_below_stack(tracee, memory, owner, addr) {
        expose_dead_frames(memory, account);
        return;
    }
    if memory.exposed.get(&addr).is_some_and(|frame| is_same(tracee, *frame)) {
        return;
    }
    let holder = match holder(tracee, owner, addr) {
        FrameSearch::Found(holder) => holder,
        FrameSearch::Above => return,
        FrameSearch::Lost => return expose_all_frames(memory),
    };
    memory.exposed.insert(addr, holder.frame);
    let may_lend = |code: &Range<u64>| !tracee.layout.in_libc(code.start) && lends_frame(tracee, code);
    if ![Some(&holder.function), holder.callee.as_ref()].into_iter().flatten().any(may_lend) {
        expose_dead_frames(memory, account);
        return;
    }
    let Obj { name, offset, .. } = memory.object(addr, 1);
    name_local(tracee, scheduling, (name, offset), holder.function.start, false, (owner, addr));
    let layout = std::sync::Arc::clone(&memory.layout);
    // An argument passed on the stack lies in the caller's frame, and the callee works on it.
    let is_inside = |at: u64| {
        holder.function.contains(&at) || holder.callee.as_ref().is_some_and(|code| code.contains(&at))
    };
    let inside = layout.candidates.iter().enumerate().filter(|(_, c)| is_inside(c.addr));
    if memory.knowledge.expose(inside.map(|(i, _)| i)) {
        memory.promoted = true;
    }
}

/// Memory of a frame that is gone is used by another thread than the one that had it.
fn expose_dead_frames(memory: &mut MemoryState, account: &mut Account) {
    account.enter_unwatched(Unwatched::of(UnwatchedKind::DeadFrame));
    expose_all_frames(memory);
}

/// All instructions that work on the frames of their functions are watched from now on.
pub(crate) fn expose_all_frames(memory: &mut MemoryState) {
    if std::mem::replace(&mut memory.exposed_frames, true) {
        return;
    }
    let layout = std::sync::Arc::clone(&memory.layout);
    let all = layout.candidates.iter().enumerate().filter(|(_, candidate)| candidate.stack.is_some());
    memory.promoted |= memory.knowledge.expose(all.map(|(i, _)| i));
}

/// Whether the code of a function makes addresses of what is in its frame; so it is taken to be where the code cannot be read.
fn lends_frame(tracee: &Tracee, code: &Range<u64>) -> bool {
    let bytes = tracee.layout.module_at(code.start).and_then(|(_, module)| {
        let own = code.start - module.mapped.bias..code.end - module.mapped.bias;
        module.image.text().iter().find_map(|section| Some(makes_frame_addresses(section.part(&own)?)))
    });
    bytes.unwrap_or(true)
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
    if !memory.knowledge.is_local_known((name, offset))
        && let FrameSearch::Found(holder) = holder(tracee, owner, addr)
    {
        name_local(tracee, scheduling, (name, offset), holder.function.start, true, (owner, addr));
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
    let local = ObservedLocal { place, function, words: None, if_new };
    tracee.knowledge.name_local(local, scheduling.events, || stacks::local_at(tracee, owner, addr));
}

/// The function in whose frame an address is.
struct FrameOwner {
    /// Its code, and that of the function that it has called.
    function: Range<u64>,
    callee: Option<Range<u64>>,
    frame: LentFrame,
}

/// The outcome of a walk over a stack up to the frame that holds an address.
enum FrameSearch {
    Found(FrameOwner),
    /// The address is above all frames, as the program's arguments are.
    Above,
    /// The walk ended too early, or met code of no known function: there is no unwinding table, or the stack is deep.
    Lost,
}

fn holder(tracee: &Tracee, owner: ThreadIndex, addr: u64) -> FrameSearch {
    let holds = |frame: &debuginfo::Frame| addr < frame.cfa;
    let frames = stacks::raw_frames_until(tracee, owner, STACK_DEPTH, holds);
    let Some(at) = frames.iter().position(holds) else {
        let is_whole = frames.len() < STACK_DEPTH && frames.last().is_some_and(|last| last.cfa != 0);
        return if is_whole { FrameSearch::Above } else { FrameSearch::Lost };
    };
    // The innermost frame's place is no return address.
    let code = |at: usize| tracee.layout.function_code(frames[at].pc.wrapping_sub(u64::from(at > 0)));
    let returns_at = frames[at].cfa.wrapping_sub(8);
    let frame = LentFrame { returns_at, returns_to: tracee.number(returns_at, 8) };
    let Some(function) = code(at) else { return FrameSearch::Lost };
    FrameSearch::Found(FrameOwner { function, callee: at.checked_sub(1).and_then(code), frame })
}

/// Whether a frame is still there, as far as its return address tells.
fn is_same(tracee: &Tracee, LentFrame { returns_at, returns_to }: LentFrame) -> bool {
    tracee.number(returns_at, 8) == returns_to
}

/// Whether an address on the stack of a thread is in no function's frame, if the thread is on that stack.
fn is_below_stack(tracee: &Tracee, memory: &MemoryState, owner: ThreadIndex, addr: u64) -> bool {
    /// A function that calls no other one may use so much below the stack pointer.
    const RED_ZONE: u64 = 128;
    let top = tracee.tasks[owner].regs.rsp;
    memory.stacks[owner].0.contains(&top) && addr < top.saturating_sub(RED_ZONE)
}
