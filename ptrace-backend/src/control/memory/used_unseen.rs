//! Memory that a thread uses as a whole, by accesses that are not watched one by one: the stack of a coroutine, a stream of the C
//! library. Where another thread touches it, the two are entered in the account.

use std::ops::Range;

use checker::account::{Unwatched, UnwatchedKind};

use crate::control::memory::sharing::How;
use crate::control::state::account::Account;
use crate::control::state::memory::MemoryState;
use crate::control::state::memory::used_unseen::UsedUnseen;
use crate::control::state::thread_index::ThreadIndex;
use crate::control::tracee::Tracee;
use crate::instructions::stack_switch::NewStack;

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
            let loaded = memory.sharing.touch_in(index, None, at..at.saturating_add(POINTER), How::Reads);
            if !loaded.bytes.is_empty() {
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

/// Takes note that a thread uses all of this memory, unseen. Whether no other thread does, but in an order that holds in every schedule;
/// `entry` is what is to be entered if not, and where another one touches it later.
pub(crate) fn has_for_itself(
    memory: &mut MemoryState,
    index: ThreadIndex,
    bytes: Range<u64>,
    entry: &Unwatched,
) -> bool {
    let is_known = |used: &UsedUnseen| used.thread == index && used.bytes == bytes && used.entry == *entry;
    if !memory.used_unseen.iter().any(is_known) {
        memory.used_unseen.push(UsedUnseen { bytes: bytes.clone(), thread: index, entry: entry.clone() });
    }
    memory.sharing.touch_in(index, None, bytes, How::Writes).bytes.is_empty()
}

/// An access of a thread conflicts with one of another thread there: what uses the memory unseen is entered. Instructions that work
/// on the frames of their functions are watched from then on if such frames are on a stack that a thread has switched to.
pub(crate) fn note_conflict(
    memory: &mut MemoryState,
    account: &mut Account,
    index: ThreadIndex,
    bytes: &[Range<u64>],
) {
    let meets = |used: &&UsedUnseen| {
        used.thread != index && bytes.iter().any(|b| b.start < used.bytes.end && used.bytes.start < b.end)
    };
    let entries: Vec<Unwatched> =
        memory.used_unseen.iter().filter(meets).map(|used| used.entry.clone()).collect();
    if entries.iter().any(|entry| entry.kind == UnwatchedKind::SwitchedStack) {
        let layout = std::sync::Arc::clone(&memory.layout);
        let all = layout.candidates.iter().enumerate().filter(|(_, candidate)| candidate.stack.is_some());
        memory.promoted |= memory.shared.expose(all.map(|(i, _)| i));
    }
    entries.into_iter().for_each(|entry| account.enter_unwatched(entry));
}

/// The block, the variable, or else the nearest memory below an address, for a stack that grows down from there.
fn around(memory: &MemoryState, top: u64) -> Range<u64> {
    /// Of memory of which nothing is known: what is used first.
    const NEAREST: u64 = 4 << 10;
    let last = top.wrapping_sub(1);
    if let Some((_, start)) = memory.heap.at(last) {
        let end = memory.heap.borders(last).filter(|border| *border > last).min();
        return start..end.unwrap_or(top);
    }
    let module = memory.layout.module_at(last).map(|(_, module)| module);
    let variable = module.and_then(|module| {
        let Range { start, end } = module.image.variable(last.wrapping_sub(module.mapped.bias))?;
        Some(start.wrapping_add(module.mapped.bias)..end.wrapping_add(module.mapped.bias))
    });
    variable.unwrap_or(top.saturating_sub(NEAREST)..top)
}
