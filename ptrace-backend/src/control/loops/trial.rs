//! Instructions that an experiment with a thread may run, and the memory that they use.

use iced_x86::{Instruction, InstructionInfoFactory, OpAccess, Register};

use crate::control::state::memory::MemoryState;
use crate::control::state::thread_index::ThreadIndex;
use crate::control::tracee::Tracee;
use crate::layout::TrapKind;
use crate::os::Regs;

/// Whether an address is on a thread's stack or among its thread-local variables, as far as they are near its control block.
pub(crate) fn owns(tracee: &Tracee, memory: &MemoryState, index: ThreadIndex, addr: u64) -> bool {
    const NEAR: u64 = 0x1000;
    let base = tracee.tasks[index].regs.fs_base;
    let control_block = base.saturating_sub(NEAR)..base.saturating_add(NEAR);
    memory.stacks[index].0.contains(&addr) || control_block.contains(&addr)
}

/// Whether an address is not in the code of a module.
pub(super) fn is_writable_data(tracee: &Tracee, addr: u64) -> bool {
    !tracee.layout.in_libc(addr) && tracee.layout.function_code(addr).is_none()
}

/// Whether an instruction, at this address, is one that an experiment passes.
pub(super) fn may_be_tried(tracee: &Tracee, instruction: &Instruction, at: u64) -> bool {
    let passes = match tracee.layout.traps.get(&at).map(|trap| &trap.kind) {
        Some(TrapKind::Function { function, .. }) => function.only_tries(),
        Some(TrapKind::Instruction(trapped)) => trapped.kind.leaves_all_as_it_is(),
        _ => true,
    };
    passes && !instruction.has_rep_prefix() && !instruction.has_repne_prefix()
}

/// Memory that an instruction uses.
pub(super) struct UsedMemory {
    pub(super) address: u64,
    /// In bytes.
    pub(super) len: usize,
    pub(super) reads: bool,
    pub(super) writes: bool,
}

/// The memory that an instruction uses, with these registers; `None`: that is not known, or more than an experiment looks at.
pub(super) fn used_memory(
    instruction: &Instruction,
    regs: &Regs,
    info: &mut InstructionInfoFactory,
) -> Option<Vec<UsedMemory>> {
    let mut uses = Vec::new();
    for used in info.info(instruction).used_memory() {
        let (reads, writes) = match used.access() {
            OpAccess::NoMemAccess | OpAccess::None => continue,
            OpAccess::Read | OpAccess::CondRead => (true, false),
            OpAccess::Write | OpAccess::CondWrite => (false, true),
            OpAccess::ReadWrite | OpAccess::ReadCondWrite => (true, true),
        };
        let address = used.virtual_address(0, |register, _, _| register_value(regs, register));
        let len = used.memory_size().size();
        let (Some(address), 1..=64) = (address, len) else { return None };
        uses.push(UsedMemory { address, len, reads, writes });
    }
    Some(uses)
}

/// Whether the system call of a thread with these registers only gives way.
pub(super) fn is_pause(regs: &Regs) -> bool {
    [libc::SYS_sched_yield, libc::SYS_nanosleep, libc::SYS_clock_nanosleep].contains(&(regs.rax as i64))
}

fn register_value(regs: &Regs, register: Register) -> Option<u64> {
    Some(match register.full_register() {
        Register::RAX => regs.rax,
        Register::RBX => regs.rbx,
        Register::RCX => regs.rcx,
        Register::RDX => regs.rdx,
        Register::RSI => regs.rsi,
        Register::RDI => regs.rdi,
        Register::RBP => regs.rbp,
        Register::RSP => regs.rsp,
        Register::R8 => regs.r8,
        Register::R9 => regs.r9,
        Register::R10 => regs.r10,
        Register::R11 => regs.r11,
        Register::R12 => regs.r12,
        Register::R13 => regs.r13,
        Register::R14 => regs.r14,
        Register::R15 => regs.r15,
        Register::FS => regs.fs_base,
        Register::GS => regs.gs_base,
        Register::CS | Register::DS | Register::ES | Register::SS => 0,
        _ => return None,
    })
}
