//! The code of a function that does not say where it ends: what follows it may be data.

use std::ops::Range;

use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic, OpKind, Register};
use rustc_hash::FxHashSet;

use crate::attention;

/// The parts of some code that control reaches.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Reached {
    /// As offsets, in order. Where control goes into the middle of an instruction, what it finds there is a part of its own, beside the
    /// one with that instruction.
    pub parts: Vec<Range<usize>>,
    /// The address of bytes that control reaches, and that are no instruction that is known.
    pub undecoded: Option<u64>,
    /// Targets of jumps and calls that leave the code.
    pub leaves_to: Vec<u64>,
    /// Control runs off the end, or to what no program may do, such as instructions for the kernel alone: the beginning was hardly code.
    pub strays: bool,
}

/// The parts of `code` that control reaches from those of these addresses that are in it; if a jump may be that of a `switch`, all is
/// code. What other pointers lead to is not among them. `start`: the address of the code.
pub fn reached(code: &[u8], start: u64, entries: impl IntoIterator<Item = u64>) -> Reached {
    reached_within(code, start, entries, usize::MAX)
}

/// The same of the first parts that are found, up to so many bytes.
pub fn reached_within(
    code: &[u8],
    start: u64,
    entries: impl IntoIterator<Item = u64>,
    most: usize,
) -> Reached {
    let end = start.wrapping_add(code.len() as u64);
    let mut to_do: Vec<u64> = entries.into_iter().filter(|entry| (start..end).contains(entry)).collect();
    let mut seen: FxHashSet<u64> = FxHashSet::default();
    let mut runs: Vec<Range<usize>> = Vec::new();
    let mut found = Reached::default();
    let mut len = 0;
    while let Some(entry) = to_do.pop().filter(|_| len < most) {
        let begins = entry.wrapping_sub(start) as usize;
        let Some(rest) = code.get(begins..).filter(|rest| !rest.is_empty()) else { continue };
        let mut run = begins..begins;
        let mut ends = false;
        let mut before = Instruction::default();
        for instruction in &mut Decoder::with_ip(64, rest, entry, DecoderOptions::NONE) {
            attention::round();
            if instruction.is_invalid() {
                found.undecoded = found.undecoded.or(Some(instruction.ip()));
                break;
            }
            ends = !seen.insert(instruction.ip());
            if ends {
                break;
            }
            run.end += instruction.len();
            found.strays |=
                instruction.is_privileged() || instruction.flow_control() == FlowControl::Interrupt;
            match instruction.near_branch_target() {
                0 => {}
                target if (start..end).contains(&target) => to_do.push(target),
                target => found.leaves_to.push(target),
            }
            if may_be_switch(&instruction, &before) {
                return Reached { parts: std::iter::once(0..code.len()).collect(), ..Reached::default() };
            }
            if instruction.mnemonic() != Mnemonic::Nop {
                before = instruction;
            }
            ends = !falls_through(&instruction);
            if ends {
                break;
            }
        }
        // A function that is called last may not return.
        let is_call = matches!(before.flow_control(), FlowControl::Call | FlowControl::IndirectCall);
        found.strays |= !(ends || is_call && run.end == code.len());
        len += run.len();
        if !run.is_empty() {
            runs.push(run);
        }
    }
    runs.sort_unstable_by_key(|run| run.start);
    runs.dedup_by(|later, earlier| {
        let touches = later.start == earlier.end;
        if touches {
            earlier.end = later.end;
        }
        touches
    });
    Reached { parts: runs, ..found }
}

/// Whether an instruction may be the jump of a `switch`: its target was computed right before, or is in a table.
pub(super) fn may_be_switch(instruction: &Instruction, before: &Instruction) -> bool {
    instruction.flow_control() == FlowControl::IndirectBranch
        && match instruction.op0_kind() {
            OpKind::Register => {
                before.mnemonic() == Mnemonic::Add && before.op0_register() == instruction.op0_register()
            }
            _ => instruction.memory_index() != Register::None,
        }
}

/// Whether control may go on to the next instruction, also by way of a call.
fn falls_through(instruction: &Instruction) -> bool {
    use FlowControl::{Exception, IndirectBranch, Return, UnconditionalBranch};
    !matches!(instruction.flow_control(), Exception | IndirectBranch | Return | UnconditionalBranch)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_the_last_return_is_no_code_unless_something_leads_there() {
        let parts = |code: &[u8], start, entries: &[u64]| -> Vec<(usize, usize)> {
            let parts = reached(code, start, entries.iter().copied()).parts;
            parts.into_iter().map(|part| (part.start, part.end)).collect()
        };
        // je +1; ret; inc (rdi); ret; two zeros; inc (rsi); ret
        let code = [0x74, 0x01, 0xc3, 0xff, 0x07, 0xc3, 0, 0, 0xff, 0x06, 0xc3];
        assert_eq!(parts(&code, 0x1000, &[0x1000]), [(0, 6)]);
        assert_eq!(parts(&code, 0x1000, &[0x1000, 0x1008, 0x2000]), [(0, 6), (8, 11)]);
        assert_eq!(parts(&code[2..], 0x1002, &[0x1002]), [(0, 1)]);
        assert_eq!(parts(&code, 0x1000, &[]), []);
        // jmp rax; inc (rdi); and with an add rax, rcx before it
        assert_eq!(parts(&[0xff, 0xe0, 0xff, 0x07], 0x1000, &[0x1000]), [(0, 2)]);
        assert_eq!(parts(&[0x48, 0x01, 0xc8, 0xff, 0xe0, 0xff, 0x07], 0x1000, &[0x1000]), [(0, 7)]);
    }

    #[test]
    fn data_among_instructions_is_passed_over_and_an_instruction_in_another_is_a_part() {
        // jmp +2; the beginning of a long mov; inc (rdi); ret
        let code = [0xeb, 0x02, 0x48, 0xb8, 0xff, 0x07, 0xc3];
        let found = reached(&code, 0x1000, [0x1000]);
        assert_eq!(found, Reached { parts: vec![0..2, 4..7], ..Reached::default() });
        // je +1; lock inc (rdi); ret
        let code = [0x74, 0x01, 0xf0, 0xff, 0x07, 0xc3];
        let found = reached(&code, 0x1000, [0x1000]);
        assert_eq!(found, Reached { parts: vec![0..6, 3..5], ..Reached::default() });
        // je +1; ret; a byte that begins no instruction
        let found = reached(&[0x74, 0x01, 0xc3, 0x06], 0x1000, [0x1000]);
        assert_eq!((found.parts, found.undecoded), (std::iter::once(0..3).collect(), Some(0x1003)));
    }

    #[test]
    fn code_is_told_from_data_by_where_it_leads() {
        let strays = |code: &[u8]| reached(code, 0x1000, [0x1000]).strays;
        // inc (rdi); ret
        assert!(!strays(&[0xff, 0x07, 0xc3]));
        // inc (rdi), and no more; in al, dx; int 0x80; a byte that begins no instruction
        for data in [&[0xff, 0x07][..], &[0xec, 0xc3], &[0xcd, 0x80, 0xc3], &[0x06]] {
            assert!(strays(data), "{data:x?}");
        }
        // call 0x1000, which does not return; nop
        assert!(!strays(&[0xe8, 0xfb, 0xff, 0xff, 0xff, 0x90]));
        // call 0x10; ret
        assert_eq!(reached(&[0xe8, 0x0b, 0xf0, 0xff, 0xff, 0xc3], 0x1000, [0x1000]).leaves_to, [0x10]);
    }
}
