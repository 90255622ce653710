//! Values of registers by the decoder's names.

use iced_x86::Register;
use libc::user_regs_struct;

/// The value of a general-purpose register or part of one, or the base address of a segment; `None` for vectors.
pub(super) fn value(regs: &user_regs_struct, register: Register) -> Option<u64> {
    if register.is_segment_register() {
        return Some(match register {
            Register::FS => regs.fs_base,
            Register::GS => regs.gs_base,
            _ => 0,
        });
    }
    let full = *slot(&mut { *regs }, register)?;
    Some(match register {
        Register::AH | Register::BH | Register::CH | Register::DH => (full >> 8) & 0xff,
        _ => full & mask(register.size()),
    })
}

/// Does to a general-purpose register what an instruction that writes `value` to it does.
pub(super) fn set(regs: &mut user_regs_struct, register: Register, value: u64) {
    let size = register.size();
    if let Some(full) = slot(regs, register) {
        // A 32-bit write clears the upper half; a narrower one keeps the rest.
        let kept = if size >= 4 { 0 } else { *full & !mask(size) };
        *full = kept | (value & mask(size));
    }
}

/// The lowest `size` bytes.
pub(super) fn mask(size: usize) -> u64 {
    if size >= 8 { u64::MAX } else { (1 << (8 * size)) - 1 }
}

fn slot(regs: &mut user_regs_struct, register: Register) -> Option<&mut u64> {
    Some(match register.full_register() {
        Register::RAX => &mut regs.rax,
        Register::RBX => &mut regs.rbx,
        Register::RCX => &mut regs.rcx,
        Register::RDX => &mut regs.rdx,
        Register::RSI => &mut regs.rsi,
        Register::RDI => &mut regs.rdi,
        Register::RBP => &mut regs.rbp,
        Register::RSP => &mut regs.rsp,
        Register::R8 => &mut regs.r8,
        Register::R9 => &mut regs.r9,
        Register::R10 => &mut regs.r10,
        Register::R11 => &mut regs.r11,
        Register::R12 => &mut regs.r12,
        Register::R13 => &mut regs.r13,
        Register::R14 => &mut regs.r14,
        Register::R15 => &mut regs.r15,
        Register::RIP => &mut regs.rip,
        _ => return None,
    })
}
