//! The use of a called function's result by the code behind the call.

use iced_x86::{Decoder, DecoderOptions, FlowControl, InstructionInfoFactory, OpAccess, Register};

/// So much code is looked at from one place on.
const BLOCK: usize = 128;

/// More places that jumps lead to are not looked at.
const MOST_BLOCKS: usize = 8;

/// Whether the result in `rax` may be used behind a call that returns to an address. `read` fills in code; where it cannot be
/// followed, or the function returns with what stands there, it counts as used.
pub(crate) fn uses_result(back: u64, read: impl Fn(u64, usize) -> Vec<u8>) -> bool {
    let mut info = InstructionInfoFactory::new();
    let (mut wanted, mut seen) = (vec![back], Vec::new());
    while let Some(start) = wanted.pop() {
        if seen.contains(&start) {
            continue;
        }
        seen.push(start);
        if seen.len() > MOST_BLOCKS {
            return true;
        }
        let code = read(start, BLOCK);
        let mut decoder = Decoder::with_ip(64, &code, start, DecoderOptions::NONE);
        loop {
            if !decoder.can_decode() {
                return true;
            }
            let instruction = decoder.decode();
            if instruction.is_invalid() {
                return true;
            }
            let used = info.info(&instruction).used_registers();
            let mut own = used.iter().filter(|used| used.register().full_register() == Register::RAX);
            match own.clone().find(|used| used.access() != OpAccess::Write) {
                // A call may be told how many vectors it gets in `al`.
                Some(_) => return true,
                None if own.any(|used| used.register().size() >= 4) => break,
                None => {}
            }
            match instruction.flow_control() {
                FlowControl::Next => {}
                FlowControl::Call | FlowControl::IndirectCall => break,
                FlowControl::UnconditionalBranch => {
                    wanted.push(instruction.near_branch_target());
                    break;
                }
                FlowControl::ConditionalBranch => wanted.push(instruction.near_branch_target()),
                _ => return true,
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::uses_result;

    /// Whether the code uses the result, given in hexadecimal bytes.
    fn uses(code: &[u8]) -> bool {
        uses_result(0, |at, len| code.iter().skip(at as usize).take(len).copied().collect())
    }

    #[test]
    fn a_result_is_used_until_something_else_is_there() {
        // cmp eax, -1
        assert!(uses(&[0x83, 0xf8, 0xff]));
        // mov [rbp - 4], eax
        assert!(uses(&[0x89, 0x45, 0xfc]));
        // xor eax, eax; ret
        assert!(!uses(&[0x31, 0xc0, 0xc3]));
        // mov eax, 1; ret
        assert!(!uses(&[0xb8, 1, 0, 0, 0, 0xc3]));
        // leave; ret
        assert!(uses(&[0xc9, 0xc3]));
        // call
        assert!(!uses(&[0xe8, 0, 0, 0, 0]));
    }

    #[test]
    fn jumps_are_followed() {
        // dec ecx; jne back; xor eax, eax
        assert!(!uses(&[0xff, 0xc9, 0x75, 0xfc, 0x31, 0xc0, 0xc3]));
        // jmp over; nop; test eax, eax
        assert!(uses(&[0xeb, 0x01, 0x90, 0x85, 0xc0]));
    }
}
