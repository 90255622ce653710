//! Memory that a thread uses as a whole, by accesses that are not watched one by one: the stack of a coroutine, a stream of the C
//! library. Where another thread touches it, the two are entered in the account.
//!
//! The uses of calls are none that threads share where the events of the execution order them ([`super::event_order`]), as those of a
//! stream are whose threads take a lock first. A call may have events in its midst, at which other threads may come in between: its use
//! begins anew after each of them ([`renew`]).

use std::mem::offset_of;
use std::ops::Range;

use checker::account::{Unwatched, UnwatchedKind};

use crate::control::memory::exposure;
use crate::control::memory::naming::MemoryRegion;
use crate::control::memory::sharing::{TouchKind, UseDuration};
use crate::control::state::account::Account;
use crate::control::state::memory::MemoryState;
use crate::control::state::memory::unwatched_uses::{OpenCall, UnwatchedUse};
use crate::control::state::scheduling::Scheduling;
use crate::control::state::thread_index::ThreadIndex;
use crate::control::tracee::Tracee;
use crate::instructions::MemoryAccess;
use crate::instructions::stack::switch::NewStack;

/// From this address on, what is used is no memory.
pub(crate) const NO_MEMORY: u64 = 1 << 63;

/// The thread at an instruction that switches its stack goes on with another one: what it pushes and pops there, and its calls, are
/// not watched.
pub(crate) fn switch_stack(
    tracee: &Tracee,
    memory: &mut MemoryState,
    account: &mut Account,
    index: ThreadIndex,
    new: NewStack,
) {
    const POINTER: u64 = 8;
    if !tracee.concurrent {
        return;
    }
    let regs = &tracee.tasks[index].regs;
    let entry = Unwatched::of(UnwatchedKind::SwitchedStack);
    let top = match new {
        NewStack::Is(address) => address.value(regs),
        NewStack::Loaded(address) => {
            let at = address.value(regs);
            let loaded =
                memory.sharing.touch_in(index, None, at..at.saturating_add(POINTER), TouchKind::Reads);
            if !loaded.bytes.is_empty() && !may_be_another_block(memory, at) {
                account.enter_unwatched(entry.clone());
            }
            tracee.number(at, POINTER as usize)
        }
    };
    if memory.stacks[index].0.contains(&top) {
        return;
    }
    let bytes = around(memory, top);
    if !has_for_itself(memory, index, bytes, &entry) {
        account.enter_unwatched(entry);
    }
}

/// A thread gives a standard stream of the C library's another file: calls of other threads (`puts`) find that, or do not.
pub(crate) fn note_stream_variable(
    scheduling: &Scheduling,
    memory: &MemoryState,
    account: &mut Account,
    access: &MemoryAccess,
) {
    const POINTER: u64 = 8;
    let end = access.addr.saturating_add(access.len);
    let is_written = |at: u64| access.write && at < end && access.addr < at + POINTER;
    let mut variables = memory.layout.stream_variables.iter();
    if let Some((_, name)) = variables.find(|(at, _)| is_written(*at)).filter(|_| scheduling.has_company()) {
        account.enter_unwatched(Unwatched::call(UnwatchedKind::File, name));
    }
}

/// The thread stands at the first instruction of a signal's handler. On an alternate stack, what the handler pushes and pops is not
/// watched.
pub(crate) fn begin_handler(
    tracee: &Tracee,
    memory: &mut MemoryState,
    account: &mut Account,
    index: ThreadIndex,
) {
    if !tracee.concurrent {
        return;
    }
    let regs = &tracee.tasks[index].regs;
    // The third argument of a handler is its context, which names the alternate stack.
    let stack = regs.rdx + offset_of!(libc::ucontext_t, uc_stack) as u64;
    let start = tracee.number(stack + offset_of!(libc::stack_t, ss_sp) as u64, 8);
    let len = tracee.number(stack + offset_of!(libc::stack_t, ss_size) as u64, 8);
    let bytes = start..start.saturating_add(len);
    let entry = Unwatched::of(UnwatchedKind::SwitchedStack);
    if bytes.contains(&regs.rsp) && !has_for_itself(memory, index, bytes, &entry) {
        account.enter_unwatched(entry);
    }
}

/// Takes note that the thread uses all of this memory, unseen, for a time that is not known. Whether no other thread does, but
/// in an order that holds in every schedule; `entry` is what is to be entered if not, and where another one touches it later.
pub(crate) fn has_for_itself(
    memory: &mut MemoryState,
    index: ThreadIndex,
    bytes: Range<u64>,
    entry: &Unwatched,
) -> bool {
    let (entry, kind, lasts) = (entry.clone(), TouchKind::Writes, UseDuration::Lasting);
    uses(memory, UnwatchedUse { bytes, thread: index, kind, entry, lasts, call: None, in_event: false })
}

/// The same of the call of a function, at whose entry the thread stands. Whether no other thread uses the memory, but in an order that
/// events give.
pub(crate) fn has_in_call(
    memory: &mut MemoryState,
    (index, call): (ThreadIndex, OpenCall),
    bytes: Range<u64>,
    entry: &Unwatched,
) -> bool {
    is_settled_in_call(memory, (index, Some(call)), (bytes, TouchKind::Writes), entry)
}

/// The same where the call does no more to the memory than this; without a call, at this moment alone. Whether no other thread is in the way of that.
pub(crate) fn is_settled_in_call(
    memory: &mut MemoryState,
    (index, call): (ThreadIndex, Option<OpenCall>),
    (bytes, kind): (Range<u64>, TouchKind),
    entry: &Unwatched,
) -> bool {
    let (entry, lasts) = (entry.clone(), UseDuration::Call);
    uses(memory, UnwatchedUse { bytes, thread: index, kind, entry, lasts, call, in_event: false })
}

/// The same of a call that is an event to come: it uses the memory from that on ([`renew`]).
pub(crate) fn begin_in_event(
    memory: &mut MemoryState,
    (index, call): (ThreadIndex, OpenCall),
    bytes: Range<u64>,
    entry: &Unwatched,
) {
    let (entry, kind, lasts) = (entry.clone(), TouchKind::Writes, UseDuration::Call);
    keep(memory, UnwatchedUse { bytes, thread: index, kind, entry, lasts, call: Some(call), in_event: true });
}

fn keep(memory: &mut MemoryState, new: UnwatchedUse) {
    let is_known = |used: &&mut UnwatchedUse| {
        used.thread == new.thread
            && used.bytes == new.bytes
            && used.kind == new.kind
            && used.entry == new.entry
            && used.lasts == new.lasts
            && used.in_event == new.in_event
    };
    match memory.unwatched_uses.iter_mut().find(is_known) {
        Some(known) => known.call = new.call,
        None => memory.unwatched_uses.push(new),
    }
}

fn uses(memory: &mut MemoryState, new: UnwatchedUse) -> bool {
    let UnwatchedUse { ref bytes, thread, kind, lasts, .. } = new;
    let conflict = memory.sharing.use_unseen(thread, bytes.clone(), (kind, lasts));
    let start = bytes.start;
    keep(memory, new);
    if conflict.bytes.is_empty() {
        return true;
    }
    if may_be_another_block(memory, start) {
        memory.promoted |= memory.knowledge.watch_allocator();
        return true;
    }
    may_be_ordered(memory, lasts)
}

/// Whether events may order uses of this kind, which is not known in this execution; it is in the next one.
fn may_be_ordered(memory: &mut MemoryState, lasts: UseDuration) -> bool {
    if lasts == UseDuration::Lasting || memory.sharing.orders_uses() {
        return false;
    }
    memory.promoted |= memory.knowledge.order_uses();
    true
}

/// The call at whose entry a thread stands.
pub(crate) fn call(tracee: &Tracee, index: ThreadIndex) -> OpenCall {
    let stack = tracee.tasks[index].regs.rsp;
    OpenCall { stack, returns_to: tracee.number(stack, 8) }
}

/// A thread has run an event. The calls that it is in use their memory after that as well.
pub(crate) fn renew(tracee: &Tracee, memory: &mut MemoryState, account: &mut Account, index: ThreadIndex) {
    let MemoryState { unwatched_uses, sharing, promoted, .. } = memory;
    if !sharing.orders_uses() {
        return;
    }
    let stack = tracee.tasks[index].regs.rsp;
    let goes_on = |call: &OpenCall| call.goes_on(stack, |at| tracee.number(at, 8));
    for used in unwatched_uses.iter_mut().filter(|used| used.thread == index) {
        used.call = used.call.filter(goes_on);
        if used.call.is_none() {
            continue;
        }
        let bytes = used.bytes.clone();
        let conflict = match used.in_event {
            true => sharing.use_in_event(index, bytes),
            false => sharing.use_unseen(index, bytes, (used.kind, used.lasts)),
        };
        // Conflicts of events in an execution that began with fewer key points come again in the next one.
        let comes_again = used.in_event && *promoted;
        if !conflict.bytes.is_empty() && !comes_again {
            account.enter_unwatched(used.entry.clone());
        }
    }
}

/// Whether accesses of this memory may have been to a block that has been freed since: blocks are not known yet. Where they are, from the next
/// execution on, accesses of a block end with it.
fn may_be_another_block(memory: &MemoryState, at: u64) -> bool {
    at < NO_MEMORY
        && !memory.heap.names
        && matches!(memory.place(at).region, MemoryRegion::Heap | MemoryRegion::Unknown)
}

/// A block is allocated: whatever was in its place before is gone.
pub(crate) fn forget(memory: &mut MemoryState, block: &Range<u64>) {
    memory.unwatched_uses.retain(|used| used.bytes.end <= block.start || block.end <= used.bytes.start);
}

/// An access of a thread conflicts with one of another thread there: what uses the memory unseen is entered. Instructions that work
/// on the frames of their functions are watched from then on if such frames are on a stack that a thread has switched to.
pub(crate) fn note_conflict(
    memory: &mut MemoryState,
    account: &mut Account,
    index: ThreadIndex,
    bytes: &[Range<u64>],
) {
    let meets = |used: &&UnwatchedUse| {
        used.thread != index && bytes.iter().any(|b| b.start < used.bytes.end && used.bytes.start < b.end)
    };
    let is_settled = |used: &&UnwatchedUse| !may_be_another_block(memory, used.bytes.start);
    let met: Vec<(UseDuration, Unwatched)> = memory
        .unwatched_uses
        .iter()
        .filter(meets)
        .filter(is_settled)
        .map(|used| (used.lasts, used.entry.clone()))
        .collect();
    if met.iter().any(|(_, entry)| entry.kind == UnwatchedKind::SwitchedStack) {
        exposure::expose_all_frames(memory);
    }
    for (lasts, entry) in met {
        if !may_be_ordered(memory, lasts) {
            account.enter_unwatched(entry);
        }
    }
}

/// The block, or else the nearest memory around an address, for a stack that goes on there: it grows down, and above lie the frames of the
/// functions that have not returned yet. Of a variable, which may hold the stacks of several threads, no more.
fn around(memory: &MemoryState, top: u64) -> Range<u64> {
    /// As much as is used before coroutines switch again, as a rule, and less than a stack has.
    const NEAREST: u64 = 8 << 10;
    const PAGE: u64 = 4096;
    let last = top.wrapping_sub(1);
    if let Some((_, start)) = memory.heap.at(last) {
        let end = memory.heap.borders(last).filter(|border| *border > last).min();
        return start..end.unwrap_or(top);
    }
    // Nothing of a stack is above the end of a page where that begins.
    let above = if top.is_multiple_of(PAGE) { 0 } else { NEAREST };
    let nearest = top.saturating_sub(NEAREST)..top.saturating_add(above);
    let module = memory.layout.module_at(last).map(|(_, module)| module);
    let variable = module.and_then(|module| {
        let bias = module.mapped.bias;
        let variable = module.image.variable(last.wrapping_sub(bias))?;
        Some(variable.start.wrapping_add(bias)..variable.end.wrapping_add(bias))
    });
    match variable {
        Some(variable) => nearest.start.max(variable.start)..nearest.end.min(variable.end),
        None if module.is_some() => nearest.start..top,
        None => nearest,
    }
}
