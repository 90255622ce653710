//! Calls through pointers: of those functions whose addresses the program has for more than to call them.

use std::ops::RangeInclusive;

use crate::control::tracee::Tracee;
use crate::instructions::{AccessKind, MemoryFunction, Target, tail_calls};
use crate::layout::Layout;

/// Whether a thread that came to the entry of a function, and returns to `caller`, was led there by a pointer that may be any one: by no
/// direct call, through no slot, and by no call that is watched. A function that ends with a jump to another one does not show on the stack.
pub(super) fn is_called_through_pointer(tracee: &Tracee, caller: u64, entry: u64) -> bool {
    /// `call rel32`, which is a byte shorter than `call [rip + rel32]`.
    const DIRECT: u8 = 0xe8;
    const BY_SLOT: [u8; 2] = [0xff, 0x15];
    const LEN: u64 = 6;
    /// The shortest and the longest call through a register or memory.
    const LENGTHS: RangeInclusive<u64> = 2..=8;
    let layout = &tracee.layout;
    let is_watched = |len: u64| {
        let candidate = layout.candidate_at(caller.wrapping_sub(len));
        candidate.is_some_and(|c| matches!(c.kind, AccessKind::Call(_)) && c.len as u64 == len)
    };
    if LENGTHS.into_iter().any(is_watched) {
        return false;
    }
    let code = tracee.read(caller.wrapping_sub(LEN), LEN as usize);
    let Some(&[first, second, distance @ ..]) = code.first_chunk::<{ LEN as usize }>() else { return true };
    let named = caller.wrapping_add_signed(i32::from_le_bytes(distance).into());
    let called = match [first, second] {
        BY_SLOT if is_import_slot(layout, caller, named) => Target::Slot(named),
        [_, DIRECT] => Target::Address(named),
        _ => return true,
    };
    !leads_to(tracee, called, entry) && !ends_with_jump_to(tracee, called, entry)
}

/// Whether an address that code names is that of a slot which the dynamic linker fills for calls.
fn is_import_slot(layout: &Layout, code: u64, slot: u64) -> bool {
    layout.module_at(code).is_some_and(|(_, module)| {
        let slot = slot.wrapping_sub(module.mapped.bias);
        module.image.plt_target(slot).is_some() && !module.image.is_import_pointer(slot)
    })
}

/// Whether a call or jump leads to the entry of a function, maybe through a stub of the linker's.
fn leads_to(tracee: &Tracee, target: Target, entry: u64) -> bool {
    match target {
        Target::Address(at) if at == entry => true,
        Target::Address(at) => {
            let module = tracee.layout.module_at(at);
            let name =
                module.and_then(|(_, module)| module.image.plt_target(at.wrapping_sub(module.mapped.bias)));
            name.is_some_and(|name| MemoryFunction::named(name).is_some())
        }
        Target::Slot(slot) => tracee.number(slot, 8) == entry,
        Target::Register(_) => false,
    }
}

/// Whether a function that is called so ends with a jump to the entry of another one which is watched, or names it, and with none that may
/// lead there unseen. Some of its jumps may lead to other parts of it, or to functions that end with jumps as well.
fn ends_with_jump_to(tracee: &Tracee, called: Target, entry: u64) -> bool {
    const MOST: usize = 16;
    let at = |target: Target| match target {
        Target::Address(at) => at,
        Target::Slot(slot) => tracee.number(slot, 8),
        Target::Register(_) => 0,
    };
    let mut functions = vec![at(called)];
    let mut is_found = false;
    let mut next = 0;
    while let Some(&function) = functions.get(next) {
        next += 1;
        let Some(code) = code_from(tracee, function).filter(|_| next <= MOST) else { return false };
        for (jump, target) in tail_calls(&code, function) {
            let candidate = tracee.layout.candidate_at(jump);
            if candidate.is_some_and(|candidate| matches!(candidate.kind, AccessKind::Call(_))) {
                is_found = true;
                continue;
            }
            match target {
                Some(target) if leads_to(tracee, target, entry) => is_found = true,
                Some(Target::Register(_)) | None => return false,
                Some(target) if functions.contains(&at(target)) => {}
                Some(target) => functions.push(at(target)),
            }
        }
    }
    is_found
}

/// The code of the program's own from an address in a function to its end.
fn code_from(tracee: &Tracee, at: u64) -> Option<Vec<u8>> {
    let (_, module) = tracee.layout.module_at(at).filter(|(_, module)| !module.is_system)?;
    let function = module.image.function_at(at.wrapping_sub(module.mapped.bias))?;
    let end = function.range.end.wrapping_add(module.mapped.bias);
    Some(tracee.code(at, usize::try_from(end.checked_sub(at)?).ok()?))
}
