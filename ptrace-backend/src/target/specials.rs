//! Where loaded code asks the processor for random numbers or for the time: these are made up, so that every execution gets the same.

use std::ops::Range;

use crate::attention;
use crate::debuginfo::{CodeSection, Image};
use crate::instructions::{FunctionShape, Special, SpecialKind, scan};
use crate::layout::module::Module;

/// Every `rdrand`, `rdseed`, `rdtsc` and `rdtscp` of a module, at run-time addresses.
pub(crate) fn answered_instructions(module: &Module) -> Vec<Special> {
    let (image, bias) = (&module.image, module.mapped.bias);
    let mut found: Vec<Special> = Vec::new();
    let mut looked_at = 0..0;
    for section in image.text() {
        for suspect in suspects(&section) {
            if looked_at.contains(&suspect) {
                continue;
            }
            looked_at = surroundings(image, &section, suspect);
            let Some(code) = section.part(&looked_at) else { continue };
            let scanned =
                scan(code, looked_at.start.wrapping_add(bias), &FunctionShape::default(), |_| false);
            let is_answered =
                |s: &Special| matches!(s.kind, SpecialKind::Rdrand | SpecialKind::Rdseed) || s.kind.is_time();
            found.extend(scanned.specials.into_iter().filter(is_answered));
        }
    }
    found
}

/// Where the bytes of such an instruction are; they may be part of others.
fn suspects(section: &CodeSection<'_>) -> Vec<u64> {
    /// Registers as operands: `/6` is `rdrand`, `/7` is `rdseed`.
    const FIRST_OPERAND: u8 = 0xf0;
    let is_suspicious = |bytes: &[u8]| match *bytes {
        [0x0f, 0xc7, operand, ..] => operand >= FIRST_OPERAND,
        [0x0f, 0x31, ..] | [0x0f, 0x01, 0xf9, ..] => true,
        _ => false,
    };
    let places = (0..section.bytes.len()).inspect(|_| attention::round());
    let suspicious = places.filter(|&offset| is_suspicious(&section.bytes[offset..]));
    suspicious.map(|offset| section.address + offset as u64).collect()
}

/// The function that an address is in; where none is known, what lies between the known ones.
fn surroundings(image: &Image, section: &CodeSection<'_>, address: u64) -> Range<u64> {
    if let Some(function) = image.function_at(address) {
        return function.range;
    }
    let mut gap = section.range();
    for function in image.functions() {
        attention::round();
        if function.range.end <= address {
            gap.start = gap.start.max(function.range.end);
        } else if function.range.start > address {
            gap.end = gap.end.min(function.range.start);
        }
    }
    gap
}
