//! Which memory a call touches whose pointers name structures and buffers of known sizes.

use super::arguments::{Pointee, PointeeSize};
use super::text::StringScanner;
use crate::instructions::machine::Machine;
use crate::instructions::memory_access::{Accesses, MemoryAccess};

/// The bytes that a call touches if it is made in this state.
pub(super) fn accesses(pointees: &[Pointee], machine: &impl Machine) -> Accesses {
    let regs = machine.registers();
    let argument = |n: u8| [regs.rdi, regs.rsi, regs.rdx, regs.rcx, regs.r8, regs.r9][usize::from(n)];
    let string = |unit, at| StringScanner { machine, unit }.string(at);
    let access = |pointee: &Pointee| {
        let addr = argument(pointee.nth);
        let len = match pointee.len {
            PointeeSize::Bytes(len) => len,
            PointeeSize::Each(count, size) => argument(count).saturating_mul(size),
            PointeeSize::Text => string(1, addr),
            PointeeSize::WideText => string(4, addr),
        };
        MemoryAccess { addr, len, read: pointee.read, write: pointee.write }
    };
    pointees.iter().map(access).filter(|access| access.addr != 0 && access.len > 0).collect()
}
