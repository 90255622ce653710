//! The code of a function that does not say where it ends: what follows it may be data.

use std::ops::Range;

use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction};
use rustc_hash::FxHashSet;

use crate::attention;

/// The parts of `code`, as offsets in order, that control reaches from its beginning, and from those of these addresses that are in it. What
/// only a pointer leads to is not among them; if a jump may be that of a `switch`, all is code. `start`: the address of the code.
pub fn reached(code: &[u8], start: u64, entries: &FxHashSet<u64>) -> Vec<Range<usize>> {
    let end = start.wrapping_add(code.len() as u64);
    let mut to_do: Vec<u64> = if entries.len() < code.len() {
        entries.iter().copied().filter(|entry| (start..end).contains(entry)).collect()
    } else {
        (start..end).filter(|address| entries.contains(address)).collect()
    };
    to_do.push(start);
    let mut seen: FxHashSet<u64> = FxHashSet::default();
    let mut found: Vec<Range<usize>> = Vec::new();
    while let Some(entry) = to_do.pop() {
        let offset = entry.wrapping_sub(start) as usize;
        let Some(rest) = code.get(offset..).filter(|rest| !rest.is_empty()) else { continue };
        for instruction in &mut Decoder::with_ip(64, rest, entry, DecoderOptions::NONE) {
            attention::round();
            if instruction.is_invalid() || !seen.insert(instruction.ip()) {
                break;
            }
            let at = instruction.ip().wrapping_sub(start) as usize;
            found.push(at..at + instruction.len());
            let target = instruction.near_branch_target();
            if target != 0 && (start..end).contains(&target) {
                to_do.push(target);
            }
            if instruction.flow_control() == FlowControl::IndirectBranch
                && !instruction.is_ip_rel_memory_operand()
            {
                return std::iter::once(0..code.len()).collect();
            }
            if !goes_on(&instruction) {
                break;
            }
        }
    }
    found.sort_unstable_by_key(|range| range.start);
    found.dedup_by(|later, earlier| {
        let touches = later.start <= earlier.end;
        if touches {
            earlier.end = earlier.end.max(later.end);
        }
        touches
    });
    found
}

fn goes_on(instruction: &Instruction) -> bool {
    use FlowControl::{Exception, IndirectBranch, Return, UnconditionalBranch};
    !matches!(instruction.flow_control(), Exception | IndirectBranch | Return | UnconditionalBranch)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_the_last_return_is_no_code_unless_something_leads_there() {
        let parts = |code: &[u8], start, entries: &[u64]| -> Vec<(usize, usize)> {
            let parts = reached(code, start, &entries.iter().copied().collect());
            parts.into_iter().map(|part| (part.start, part.end)).collect()
        };
        // je +1; ret; inc (rdi); ret; two zeros; inc (rsi); ret
        let code = [0x74, 0x01, 0xc3, 0xff, 0x07, 0xc3, 0, 0, 0xff, 0x06, 0xc3];
        assert_eq!(parts(&code, 0x1000, &[]), [(0, 6)]);
        assert_eq!(parts(&code, 0x1000, &[0x1008, 0x2000]), [(0, 6), (8, 11)]);
        assert_eq!(parts(&code[2..], 0x1002, &[]), [(0, 1)]);
        // jmp rax; inc (rdi)
        assert_eq!(parts(&[0xff, 0xe0, 0xff, 0x07], 0x1000, &[]), [(0, 4)]);
    }
}
