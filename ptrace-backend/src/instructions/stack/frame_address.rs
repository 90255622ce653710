//! Functions that make addresses of what is in their frames, as those have to that hand one of their variables to another thread.

use iced_x86::{Decoder, DecoderOptions, Instruction, Mnemonic, OpKind, Register};

/// Whether the code of a function makes an address of something in its frame, other than for its own stack and frame pointers.
///
/// A value of `rbp` that is no frame pointer is taken for one: the answer is yes too often then.
pub(crate) fn makes_frame_addresses(code: &[u8]) -> bool {
    Decoder::new(64, code, DecoderOptions::NONE).iter().any(|instruction| makes_address(&instruction))
}

fn makes_address(instruction: &Instruction) -> bool {
    let is_frame = |register: Register| matches!(register.full_register(), Register::RSP | Register::RBP);
    let is_register = |operand: u32| instruction.op_kind(operand) == OpKind::Register;
    let is_frame_operand = |operand: u32| is_register(operand) && is_frame(instruction.op_register(operand));
    match instruction.mnemonic() {
        Mnemonic::Lea => is_frame(instruction.memory_base()) && !is_frame_operand(0),
        Mnemonic::Push => is_register(0) && instruction.op0_register() == Register::RSP,
        _ => {
            let reads_frame = (1..instruction.op_count()).any(is_frame_operand);
            reads_frame && !is_frame_operand(0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_pointers_are_no_addresses() {
        // push rbp; mov rbp, rsp; sub rsp, 16; mov [rbp - 4], edi; lea rsp, [rbp - 8]; leave; ret
        let plain = [
            0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x10, 0x89, 0x7d, 0xfc, 0x48, 0x8d, 0x65, 0xf8, 0xc9,
            0xc3,
        ];
        assert!(!makes_frame_addresses(&plain));
        let addresses: [&[u8]; 5] = [
            &[0x48, 0x8d, 0x45, 0xf0],       // lea rax, [rbp - 16]
            &[0x48, 0x8d, 0x7c, 0x24, 0x08], // lea rdi, [rsp + 8]
            &[0x48, 0x89, 0xe7],             // mov rdi, rsp
            &[0x54],                         // push rsp
            &[0x48, 0x01, 0xe8],             // add rax, rbp
        ];
        for code in addresses {
            assert!(makes_frame_addresses(code), "{code:x?}");
        }
    }
}
