//! The stacks of stopped threads.

use checker::names::Site;

use crate::control::state::thread_index::ThreadIndex;
use crate::control::tracee::{Tracee, late_files};
use crate::debuginfo;
use crate::debuginfo::Registers;
use crate::debuginfo::inspect::{Inspector, ThreadState};
use crate::instructions::AccessKind;
use crate::layout::rust_locks::RustMutex;
use crate::os::memory;

/// The number of frames of a stack that are looked at.
pub(crate) const STACK_DEPTH: usize = 64;

/// The target's memory, for unwinding.
struct TargetMemory(crate::os::Tid);

impl debuginfo::Memory for TargetMemory {
    fn read(&self, addr: u64, buf: &mut [u8]) -> bool {
        memory::read(self.0, addr, buf)
    }
}

/// The innermost place in the program's own code.
pub(crate) fn user_site(tracee: &Tracee, index: ThreadIndex) -> Site {
    let stack = stack(tracee, index);
    let user = |site: &&Site| {
        tracee.layout.locate(**site).is_some_and(|(m, at)| tracee.layout.in_user_code(at + m.mapped.bias))
    };
    stack.iter().find(user).or(stack.first()).copied().unwrap_or_default()
}

/// The code that a function returns to is code of the C library that calls the function itself.
pub(crate) fn is_libc_call_site(tracee: &Tracee, back: u64) -> bool {
    tracee.layout.in_libc(back) && calls_by_name(tracee, back)
}

/// The same for any of the system's libraries.
pub(crate) fn is_library_call_site(tracee: &Tracee, back: u64) -> bool {
    tracee.layout.in_system_library(back) && calls_by_name(tracee, back)
}

/// The instruction before an address calls a function directly, or through a slot of the linker, as libraries call
/// functions of one another. A function that a library calls back (a handler, a destructor) may end with a jump to a
/// function, which then returns to the library as well; but the library calls that through a register or a pointer in
/// memory, or the kernel does.
fn calls_by_name(tracee: &Tracee, back: u64) -> bool {
    /// `call [rip + slot]`, and `call function`, which is shorter.
    const BY_SLOT: [u8; 2] = [0xff, 0x15];
    const DIRECT: u8 = 0xe8;
    const LEN: u64 = 6;
    let code = tracee.code(back.wrapping_sub(LEN), LEN as usize);
    code.starts_with(&BY_SLOT) || code.get(1) == Some(&DIRECT)
}

/// The place in the user's own source of the call from which a thread has just returned to `back`; if no line on the stack
/// is the user's, the place in the program's own code.
pub(crate) fn call_site(tracee: &Tracee, index: ThreadIndex, back: u64) -> Site {
    call_through(tracee, index, back).0
}

/// The same, and the place in the function that is called there at which the call goes on, which may be the place itself.
pub(crate) fn call_through(tracee: &Tracee, index: ThreadIndex, back: u64) -> (Site, Site) {
    let call = back.wrapping_sub(1);
    if tracee.layout.is_user_line(call) {
        return (tracee.layout.site(call), tracee.layout.site(call));
    }
    let has_lines = tracee.layout.has_user_lines();
    let is_best = |pc: u64| match has_lines {
        true => tracee.layout.is_user_line(pc),
        false => tracee.layout.in_user_code(pc),
    };
    let mut callers = vec![call];
    if !is_best(call) {
        // The innermost frame is the function that has been called.
        callers.extend(frames_until(tracee, index, |nth, pc| nth > 0 && is_best(pc)).into_iter().skip(1));
    }
    let best = callers.iter().position(|&pc| is_best(pc));
    let own = best.or_else(|| callers.iter().position(|&pc| tracee.layout.in_user_code(pc))).unwrap_or(0);
    (late_files::site(tracee, callers[own]), late_files::site(tracee, callers[own.saturating_sub(1)]))
}

/// The function of the C library by which other code has come to where the thread stands in that library; `None` where there
/// is no other code on the stack.
pub(crate) fn libc_function_called(tracee: &Tracee, index: ThreadIndex) -> Option<String> {
    let frames = frames(tracee, index);
    let caller = frames.iter().position(|&pc| !tracee.layout.in_libc(pc))?;
    let inside = *frames.get(caller.checked_sub(1)?)?;
    let (_, module) = tracee.layout.module_at(inside)?;
    let function = module.image.function_at(inside - module.mapped.bias)?;
    Some(function.name()?.trim_start_matches('_').to_owned())
}

/// The place in the code that has the running thread create another one, as it is about to: libraries by which threads are created come
/// in between.
pub(crate) fn creator(tracee: &Tracee, index: ThreadIndex) -> Option<u64> {
    let comes_between = |pc: u64| {
        let module = tracee.layout.module_at(pc);
        module.is_none_or(|(_, module)| module.is_libc || module.runs_threads_for_program())
    };
    frames_until(tracee, index, |_, pc| !comes_between(pc)).into_iter().find(|&pc| !comes_between(pc))
}

/// An address in the function of a system library by which the program's own code has come to where the thread stands; `None` where there is
/// none of the program's on the stack.
pub(crate) fn library_function_called(tracee: &Tracee, index: ThreadIndex) -> Option<u64> {
    let frames = frames_until(tracee, index, |_, pc| tracee.layout.in_user_code(pc));
    let own = frames.iter().position(|&pc| tracee.layout.in_user_code(pc))?;
    frames.get(own.checked_sub(1)?).copied()
}

/// A thread's stack, innermost frame first. Callers are named by their call instruction.
pub(crate) fn stack(tracee: &Tracee, index: ThreadIndex) -> Vec<Site> {
    // Of a process that is gone, some memory may still be there and some not.
    let frames = if tracee.gone { Vec::new() } else { frames(tracee, index) };
    frames.into_iter().map(|pc| late_files::site(tracee, pc)).collect()
}

/// The stack of a thread that has just returned to `back`, from the call on.
pub(crate) fn stack_of_call(tracee: &Tracee, index: ThreadIndex, back: u64) -> Vec<Site> {
    let callers = frames(tracee, index).into_iter().skip(1);
    std::iter::once(back - 1).chain(callers).map(|pc| late_files::site(tracee, pc)).collect()
}

fn frames(tracee: &Tracee, index: ThreadIndex) -> Vec<u64> {
    frames_until(tracee, index, |_, _| false)
}

/// The same up to the first one that `is_last`, which is given its place, from 0, and its address.
fn frames_until(tracee: &Tracee, index: ThreadIndex, is_last: impl Fn(usize, u64) -> bool) -> Vec<u64> {
    let mut found = Vec::new();
    raw_frames_until(tracee, index, STACK_DEPTH, |frame| {
        let pc = if found.is_empty() { frame.pc } else { frame.pc - 1 };
        found.push(pc);
        is_last(found.len() - 1, pc)
    });
    found
}

/// A thread's frames, innermost first, with run-time addresses, at most `limit` of them.
pub(crate) fn raw_frames(tracee: &Tracee, index: ThreadIndex, limit: usize) -> Vec<debuginfo::Frame> {
    raw_frames_until(tracee, index, limit, |_| false)
}

/// The same up to the first one that `is_last`: each takes a walk over one more function.
pub(crate) fn raw_frames_until(
    tracee: &Tracee,
    index: ThreadIndex,
    limit: usize,
    mut is_last: impl FnMut(&debuginfo::Frame) -> bool,
) -> Vec<debuginfo::Frame> {
    let registers = registers(tracee, index);
    let memory = TargetMemory(tracee.leader);
    tracee.layout.grace.read(|| {
        let mut frames = Vec::new();
        for frame in debuginfo::frames(&tracee.layout.unwinding, &memory, &registers).take(limit) {
            frames.push(frame);
            if is_last(&frame) {
                break;
            }
        }
        frames
    })
}

/// The variable at an address on a thread's stack.
pub(crate) fn local_at(tracee: &Tracee, index: ThreadIndex, addr: u64) -> Option<String> {
    inspect(tracee, index, |inspector| inspector.local_at(addr))
}

pub(crate) fn inspect<T: Default>(
    tracee: &Tracee,
    index: ThreadIndex,
    look: impl FnOnce(&Inspector<'_>) -> T,
) -> T {
    let state = ThreadState { registers: registers(tracee, index), vectors: None, thread_pointer: None };
    let memory = TargetMemory(tracee.leader);
    tracee.layout.grace.read(|| look(&Inspector::new(&tracee.layout.unwinding, &memory, &state)))
}

/// A thread's registers, for unwinding.
pub(crate) fn registers(tracee: &Tracee, index: ThreadIndex) -> Registers {
    let regs = &tracee.tasks[index].regs;
    // In the numbering of the x86-64 psABI's DWARF registers.
    let gpr = [
        regs.rax, regs.rdx, regs.rcx, regs.rbx, regs.rsi, regs.rdi, regs.rbp, regs.rsp, regs.r8, regs.r9,
        regs.r10, regs.r11, regs.r12, regs.r13, regs.r14, regs.r15,
    ];
    Registers { gpr, pc: regs.rip }
}

/// The effect of the indivisible instruction at which a thread stands on a mutex of Rust's standard library, by itself or
/// on behalf of its callers.
pub(crate) fn rust_mutex(tracee: &Tracee, index: ThreadIndex, kind: AccessKind) -> Option<RustMutex> {
    const CALLERS: usize = 4;
    let what = match kind {
        _ if tracee.layout.survey.rust_locks.mutexes.is_empty() => return None,
        AccessKind::CompareExchange => RustMutex::Lock,
        AccessKind::LockedUpdate => RustMutex::Unlock,
        _ => return None,
    };
    let mut places = raw_frames(tracee, index, CALLERS).into_iter().map(|frame| frame.pc);
    let here = places.next().and_then(|pc| tracee.layout.rust_mutex(pc));
    here.or_else(|| places.find_map(|pc| tracee.layout.rust_mutex(pc - 1))).filter(|found| *found == what)
}
