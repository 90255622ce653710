//! Instructions that make the stack pointer point somewhere else than into the frame of their function, as coroutines do where they
//! switch from stack to stack: `mov rsp, rdi`, `mov rsp, [rsi]`, `lea rsp, [rax + 8]`, `xchg rsp, rdi`, `pop rsp`; and `mov rsp, rbp` and
//! `leave` where `rbp` is no frame pointer.

use iced_x86::{Instruction, Mnemonic, OpKind, Register};
use libc::user_regs_struct;

use crate::instructions::registers;

/// The stack pointer after such an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NewStack {
    /// It is this address.
    Is(Address),
    /// It is loaded from this address.
    Loaded(Address),
}

/// An address in terms of registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Address {
    base: Register,
    index: Register,
    scale: u32,
    displacement: u64,
}

impl NewStack {
    /// The value that `instruction` gives to the stack pointer, if that is none of its function's own frame: not `mov
    /// rsp, rbp` and its kin where the function keeps a frame pointer.
    pub(in crate::instructions) fn of(instruction: &Instruction, frame_pointer: bool) -> Option<Self> {
        let is_own = |register| register == Register::RSP || frame_pointer && register == Register::RBP;
        let is_register = |operand: u32| instruction.op_kind(operand) == OpKind::Register;
        let is_stack =
            |operand: u32| is_register(operand) && instruction.op_register(operand) == Register::RSP;
        let other = |operand: u32| match instruction.op_kind(operand) {
            OpKind::Register if is_own(instruction.op_register(operand)) => None,
            OpKind::Register => Some(Self::Is(Address::in_register(instruction.op_register(operand)))),
            OpKind::Memory => Some(Self::Loaded(Address::of(instruction))),
            _ => None,
        };
        match instruction.mnemonic() {
            Mnemonic::Mov if is_stack(0) => other(1),
            Mnemonic::Lea if is_stack(0) && !is_own(instruction.memory_base()) => {
                Some(Self::Is(Address::of(instruction)))
            }
            Mnemonic::Xchg if is_stack(0) => other(1),
            Mnemonic::Xchg if is_stack(1) => other(0),
            Mnemonic::Leave if !frame_pointer => Some(Self::Is(Address::in_register(Register::RBP))),
            Mnemonic::Pop if is_stack(0) => Some(Self::Loaded(Address::in_register(Register::RSP))),
            _ => None,
        }
    }
}

impl Address {
    fn of(instruction: &Instruction) -> Self {
        Self {
            base: instruction.memory_base(),
            index: instruction.memory_index(),
            scale: instruction.memory_index_scale(),
            displacement: instruction.memory_displacement64(),
        }
    }

    const fn in_register(base: Register) -> Self {
        Self { base, index: Register::None, scale: 1, displacement: 0 }
    }

    /// The address before the instruction runs, without the base of a segment.
    pub(crate) fn value(&self, regs: &user_regs_struct) -> u64 {
        // The decoder counts the address of the next instruction in where an operand is relative to it.
        let value = |register| match register {
            Register::None | Register::RIP => 0,
            register => registers::value(regs, register).unwrap_or(0),
        };
        let index = value(self.index).wrapping_mul(self.scale.into());
        value(self.base).wrapping_add(index).wrapping_add(self.displacement)
    }
}

#[cfg(test)]
mod tests {
    use iced_x86::{Decoder, DecoderOptions};

    use super::*;

    fn without_frame_pointer(code: &[u8]) -> Option<NewStack> {
        NewStack::of(&Decoder::with_ip(64, code, 0x1000, DecoderOptions::NONE).decode(), false)
    }

    fn new_stack(code: &[u8]) -> Option<NewStack> {
        NewStack::of(&Decoder::with_ip(64, code, 0x1000, DecoderOptions::NONE).decode(), true)
    }

    #[test]
    fn switches_are_told_from_frames() {
        // SAFETY: all bits zero are registers.
        let mut regs: user_regs_struct = unsafe { std::mem::zeroed() };
        (regs.rdi, regs.rsi, regs.rsp) = (0x7000, 0x100, 0x9000);
        let Some(NewStack::Is(address)) = new_stack(&[0x48, 0x89, 0xfc]) else { panic!("mov rsp, rdi") };
        assert_eq!(address.value(&regs), 0x7000);
        let loaded = new_stack(&[0x48, 0x8b, 0x66, 0x08]);
        let Some(NewStack::Loaded(address)) = loaded else { panic!("mov rsp, [rsi + 8]: {loaded:?}") };
        assert_eq!(address.value(&regs), 0x108);
        let lea = new_stack(&[0x48, 0x8d, 0x64, 0x77, 0x10]);
        let Some(NewStack::Is(address)) = lea else { panic!("lea rsp, [rdi + 2 * rsi + 16]: {lea:?}") };
        assert_eq!(address.value(&regs), 0x7210);
        let Some(NewStack::Loaded(top)) = new_stack(&[0x5c]) else { panic!("pop rsp") };
        assert_eq!(top.value(&regs), 0x9000);
        assert_eq!(new_stack(&[0x48, 0x89, 0xec]), None, "mov rsp, rbp");
        assert_eq!(new_stack(&[0x48, 0x8d, 0x65, 0xf0]), None, "lea rsp, [rbp - 16]");
        assert_eq!(new_stack(&[0x48, 0x83, 0xec, 0x10]), None, "sub rsp, 16");
        assert_eq!(new_stack(&[0xc9]), None, "leave");
        for (code, words) in [(&[0x48, 0x89, 0xec][..], "mov rsp, rbp"), (&[0xc9], "leave")] {
            regs.rbp = 0x5000;
            let Some(NewStack::Is(address)) = without_frame_pointer(code) else { panic!("{words}") };
            assert_eq!(address.value(&regs), 0x5000, "{words}");
        }
    }
}
