//! Code that belongs to no function: assembly without types of its symbols, and functions of a stripped image without unwinding tables.

use std::ops::Range;

use iced_x86::{Decoder, DecoderOptions, Mnemonic};

use super::file::CodeSection;
use super::functions::Function;
use super::symbols::{Symbol, SymbolKind};
use crate::attention;
use crate::debuginfo::ranges::merge;

/// The parts of sections with functions that are in none of `functions` and in no variable, sorted and disjoint; but for those that only
/// fill the space before the next function.
pub(crate) fn gaps(
    functions: &[Function<'_>],
    symbols: &[Symbol<'_>],
    code: &[CodeSection<'_>],
) -> Vec<Range<u64>> {
    let mut taken: Vec<Range<u64>> = functions.iter().map(|function| function.range.clone()).collect();
    let variables = symbols.iter().filter(|symbol| symbol.kind == SymbolKind::Object);
    taken.extend(variables.map(Symbol::range));
    merge(&mut taken);
    let mut found: Vec<Range<u64>> = Vec::new();
    for section in code.iter().filter(|section| section.holds_functions()) {
        let Range { start, end } = section.range();
        let first = taken.partition_point(|range| range.end <= start);
        let inside = taken[first..].iter().take_while(|range| range.start < end);
        let mut begins = start;
        for range in inside.cloned().chain(std::iter::once(end..end)) {
            attention::round();
            let gap = begins..range.start;
            begins = begins.max(range.end);
            if section.part(&gap).is_some_and(|bytes| !is_filler(bytes)) {
                found.push(gap);
            }
        }
    }
    found.sort_unstable_by_key(|gap| gap.start);
    found
}

/// Whether bytes are what compilers and linkers put between functions.
pub(crate) fn is_filler(bytes: &[u8]) -> bool {
    let is_idle = |mnemonic| matches!(mnemonic, Mnemonic::Nop | Mnemonic::Int3 | Mnemonic::Ud2);
    bytes.iter().all(|&byte| byte == 0)
        || Decoder::new(64, bytes, DecoderOptions::NONE).iter().all(|each| is_idle(each.mnemonic()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_between_functions_is_a_gap_unless_it_only_fills() {
        // ret; nop; ret; xchg ax, ax; inc (rdi); ret; three zeros
        let bytes = [0xc3, 0x90, 0xc3, 0x66, 0x90, 0xff, 0x07, 0xc3, 0, 0, 0];
        let section = CodeSection { name: ".text", address: 0x1000, bytes: &bytes };
        // jmp [rip]; nop [rax]
        let jumps = [0xff, 0x25, 0, 0, 0, 0, 0x0f, 0x1f, 0];
        let stubs = CodeSection { name: ".plt", address: 0x2000, bytes: &jumps };
        let function = |range| Function { range, symbol: None, is_open: false };
        let found = |functions: &[Function<'_>]| gaps(functions, &[], &[section, stubs]);
        let only = |range: Range<u64>| -> Vec<Range<u64>> { std::iter::once(range).collect() };
        assert_eq!(found(&[function(0x1000..0x1001), function(0x1002..0x1003)]), only(0x1003..0x100b));
        assert_eq!(found(&[function(0x1003..0x1008)]), only(0x1000..0x1003));
        assert_eq!(found(&[function(0x1000..0x1003), function(0x1003..0x1008)]), []);
        let odd = CodeSection { name: ".plt.sec", address: 0x2000, bytes: &bytes };
        assert_eq!(gaps(&[], &[], &[odd]), only(0x2000..0x200b));
    }
}
