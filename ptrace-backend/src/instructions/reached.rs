//! The code of a function that does not say where it ends: what follows it may be data.

use std::ops::Range;

use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic, OpKind, Register};
use rustc_hash::FxHashSet;

use crate::attention;

/// The parts of some code that control reaches.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Reached {
    /// As offsets, in order. If control goes into the middle of an instruction, the instructions that it finds there
    /// are a part of their own, beside the one with that instruction.
    pub parts: Vec<Range<usize>>,
    /// The address of bytes that control reaches, and that are no instruction that is known.
    pub undecoded: Option<u64>,
    /// Addresses of tables in the code that say where a `switch` goes.
    pub tables: Vec<u64>,
    /// Targets of jumps and calls that leave the code.
    pub leaves_to: Vec<u64>,
    /// Control runs off the end, or to what no program may do, such as instructions for the kernel alone: the beginning was hardly code.
    pub strays: bool,
}

/// The parts of `code` that control reaches from those of these addresses that are in it; if a jump may be that of a
/// `switch` with a table elsewhere, all is code. Targets of other pointers are not among them. `start`: the address of
/// the code.
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
        let mut table = None;
        let mut behind_call: Option<BehindCall> = None;
        for instruction in &mut Decoder::with_ip(64, rest, entry, DecoderOptions::NONE) {
            attention::round();
            // The program's first function ends with it.
            let ends_call = instruction.mnemonic() == Mnemonic::Hlt && is_call(&before);
            let is_impossible = instruction.is_privileged() && !ends_call;
            if let Some(behind) = behind_call.take_if(|_| is_impossible || instruction.is_invalid()) {
                found.undecoded = found.undecoded.or(Some(start + behind.offset as u64));
                run.end = behind.offset;
                behind.instructions.iter().for_each(|at| {
                    seen.remove(at);
                });
                to_do.truncate(behind.to_do);
                found.leaves_to.truncate(behind.leaves_to);
                ends = true;
                break;
            }
            if instruction.is_invalid() {
                found.undecoded = found.undecoded.or(Some(instruction.ip()));
                break;
            }
            ends = !seen.insert(instruction.ip());
            if ends {
                break;
            }
            if let Some(behind) = &mut behind_call {
                behind.instructions.push(instruction.ip());
            }
            run.end += instruction.len();
            found.strays |= is_impossible || instruction.flow_control() == FlowControl::Interrupt;
            match instruction.near_branch_target() {
                0 => {}
                target if (start..end).contains(&target) => to_do.push(target),
                target => found.leaves_to.push(target),
            }
            if instruction.mnemonic() == Mnemonic::Lea && names_inside(&instruction, &(start..end)) {
                table = Some(instruction.ip_rel_memory_address());
            }
            if may_be_switch(&instruction, &before) {
                let Some(table) = table else {
                    return Reached { parts: std::iter::once(0..code.len()).collect(), ..Reached::default() };
                };
                let targets = table_targets(code, start, table);
                if targets.is_empty() {
                    found.undecoded = found.undecoded.or(Some(table));
                }
                found.tables.push(table);
                to_do.extend(targets);
            }
            if instruction.mnemonic() != Mnemonic::Nop {
                before = instruction;
            }
            ends = ends_call || !falls_through(&instruction) || calls_over_data(&instruction, code, start);
            if ends {
                break;
            }
            if instruction.flow_control() == FlowControl::Call
                && (start..end).contains(&instruction.near_branch_target())
            {
                behind_call = Some(BehindCall {
                    offset: run.end,
                    instructions: Vec::new(),
                    to_do: to_do.len(),
                    leaves_to: found.leaves_to.len(),
                });
            }
        }
        // A function that is called last may not return.
        found.strays |= !(ends || is_call(&before) && run.end == code.len());
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

/// The instructions behind the last call of a place in the same code. Such a callee may step over data behind the call, which are no
/// instructions where they do what no program may.
struct BehindCall {
    offset: usize,
    instructions: Vec<u64>,
    /// Numbers of targets that were known when control came back.
    to_do: usize,
    leaves_to: usize,
}

/// Whether an instruction names an address within this code, other than its beginning, and for something else than to jump there: there are
/// data among the instructions, or code to which a pointer leads.
pub(super) fn names_inside(instruction: &Instruction, code: &Range<u64>) -> bool {
    let address = match instruction.flow_control() {
        FlowControl::Call => instruction.near_branch_target(),
        _ if instruction.is_ip_rel_memory_operand() => instruction.ip_rel_memory_address(),
        _ => return false,
    };
    address > code.start && address < code.end
}

/// Whether an instruction calls a place in this code that takes the address behind the call from the stack, and does not jump back there:
/// that of data.
fn calls_over_data(instruction: &Instruction, code: &[u8], start: u64) -> bool {
    /// Number of instructions within which the jump back follows.
    const NEAR: usize = 4;
    let offset = instruction.near_branch_target().wrapping_sub(start) as usize;
    let target = code.get(offset..).filter(|_| instruction.flow_control() == FlowControl::Call);
    let Some(target) = target else { return false };
    let mut callee = Decoder::new(64, target, DecoderOptions::NONE);
    let pop = callee.decode();
    let goes_back = |next: Instruction| {
        next.flow_control() == FlowControl::IndirectBranch && next.op0_register() == pop.op0_register()
    };
    pop.mnemonic() == Mnemonic::Pop && !callee.into_iter().take(NEAR).any(goes_back)
}

/// The targets in a table among the instructions of `code`: distances from the table, of four bytes each, up to the first one that leads out
/// of the code, or to what they lead to.
fn table_targets(code: &[u8], start: u64, table: u64) -> Vec<u64> {
    const ENTRY: usize = 4;
    let bytes = code.get(table.wrapping_sub(start) as usize..).unwrap_or_default();
    let end = start.wrapping_add(code.len() as u64);
    let mut nearest = end;
    let mut found = Vec::new();
    for (place, entry) in (table..).step_by(ENTRY).zip(bytes.chunks_exact(ENTRY)) {
        attention::round();
        let distance = entry.try_into().map_or(0, i32::from_le_bytes);
        let target = table.wrapping_add_signed(distance.into());
        if place >= nearest || !(start..end).contains(&target) {
            break;
        }
        if target > table {
            nearest = nearest.min(target);
        }
        found.push(target);
    }
    found
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

fn is_call(instruction: &Instruction) -> bool {
    matches!(instruction.flow_control(), FlowControl::Call | FlowControl::IndirectCall)
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
    fn a_table_among_the_instructions_says_where_a_switch_goes() {
        // lea rax, [rip + 10]; movslq rdi, [rax + 4 * rdi]; add rax, rdi; jmp rax; two entries; ret; inc (rdi); ret
        let code = [
            0x48, 0x8d, 0x05, 9, 0, 0, 0, 0x48, 0x63, 0x3c, 0xb8, 0x48, 0x01, 0xf8, 0xff, 0xe0, 8, 0, 0, 0,
            9, 0, 0, 0, 0xc3, 0xff, 0x07, 0xc3,
        ];
        let found = reached(&code, 0x1000, [0x1000]);
        assert_eq!(found, Reached { parts: vec![0..16, 24..28], tables: vec![0x1010], ..Reached::default() });
        // The table is none.
        let found = reached(&code[..20], 0x1000, [0x1000]);
        assert_eq!((found.parts, found.undecoded), (std::iter::once(0..16).collect(), Some(0x1010)));
    }

    #[test]
    fn a_call_that_takes_its_return_address_from_the_stack_is_a_jump_over_data() {
        // call +2; inc (rdi); pop rax; ret
        let code = [0xe8, 2, 0, 0, 0, 0xff, 0x07, 0x58, 0xc3];
        assert_eq!(reached(&code, 0x1000, [0x1000]).parts, [0..5, 7..9]);
        // call +2; inc (rdi); pop rax; jmp rax
        let code = [0xe8, 2, 0, 0, 0, 0xff, 0x07, 0x58, 0xff, 0xe0];
        assert_eq!(reached(&code, 0x1000, [0x1000]).parts, std::iter::once(0..10).collect::<Vec<_>>());
        // call +2; inc (rdi); nop; ret
        let code = [0xe8, 2, 0, 0, 0, 0xff, 0x07, 0x90, 0xc3];
        assert_eq!(reached(&code, 0x1000, [0x1000]).parts, std::iter::once(0..9).collect::<Vec<_>>());
    }

    #[test]
    fn what_no_program_may_do_behind_a_call_is_data_that_the_callee_steps_over() {
        // call +3; insb, as the beginning of a text; add [rsp], 3; ret
        let code = [0xe8, 3, 0, 0, 0, 0x48, 0x65, 0x6c, 0x48, 0x83, 0x04, 0x24, 3, 0xc3];
        let found = reached(&code, 0x1000, [0x1000]);
        assert_eq!((found.parts, found.undecoded), (vec![0..5, 8..14], Some(0x1005)));
        // call 0x1000, which does not return; hlt
        let found = reached(&[0xe8, 0xfb, 0xff, 0xff, 0xff, 0xf4], 0x1000, [0x1000]);
        assert_eq!((found.undecoded, found.strays), (None, false));
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
