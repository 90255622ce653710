//! Instructions of loaded code that ask the processor for random numbers or for the time: these are made up, so that
//! every execution gets the same. Also the instructions by which code of system libraries that is not watched pauses.

use std::ops::Range;

use crate::attention;
use crate::debuginfo::{CodeSection, Image};
use crate::instructions::{
    FunctionCode, FunctionShape, TrappedInstruction, TrappedInstructionKind, reached, scan,
};
use crate::layout::module::Module;

/// The instructions of a module that are answered.
#[derive(Default)]
pub(crate) struct AnsweredInstructions {
    /// Every `rdrand`, `rdseed`, `rdtsc` and `rdtscp` that was found, at run-time addresses; of a module with code that is not watched,
    /// every `pause` as well.
    pub(crate) found: Vec<TrappedInstruction>,
    /// There are bytes of such an instruction where it is not clear what is code.
    pub(crate) may_be_more: bool,
}

impl AnsweredInstructions {
    /// Those of a module.
    pub(crate) fn of(module: &Module) -> Self {
        let (image, bias) = (&module.image, module.mapped.bias);
        let mut answered = Self::default();
        let mut looked_at = 0..0;
        let mut is_clear = true;
        let pauses = module.is_hidden();
        for section in image.text() {
            for suspect in suspects(&section, pauses) {
                if !looked_at.contains(&suspect) {
                    looked_at = surroundings(image, &section, suspect);
                    let Some(code) = section.part(&looked_at) else { continue };
                    let start = looked_at.start.wrapping_add(bias);
                    let scan = |code, start| scan(code, start, &FunctionShape::default(), |_| false);
                    let mut scanned = scan(code, start);
                    is_clear = image.function_at(suspect).is_some_and(|function| !function.is_open);
                    if scanned.is_out_of_step || scanned.undecoded.is_some() {
                        is_clear = false;
                        let parts = reached(code, start, [start]).parts.into_iter();
                        let parts = parts.map(|part| scan(&code[part.clone()], start + part.start as u64));
                        scanned = FunctionCode::of_parts(parts);
                    }
                    let is_answered = |trapped: &TrappedInstruction| is_answered(trapped, pauses);
                    answered.found.extend(scanned.trapped_instructions.into_iter().filter(is_answered));
                }
                let is_found = |trapped: &TrappedInstruction| trapped.addr == suspect.wrapping_add(bias);
                let is_pause = section.bytes[(suspect - section.address) as usize..].starts_with(&PAUSE);
                answered.may_be_more |= !is_pause && !is_clear && !answered.found.iter().any(is_found);
            }
        }
        answered
    }
}

/// The code of `pause`.
const PAUSE: [u8; 2] = [0xf3, 0x90];

fn is_answered(trapped: &TrappedInstruction, pauses: bool) -> bool {
    trapped.kind.is_answered() || pauses && trapped.kind == TrappedInstructionKind::Pause
}

/// Addresses of the bytes of such an instruction; they may be part of others.
fn suspects(section: &CodeSection<'_>, pauses: bool) -> Vec<u64> {
    /// Registers as operands: `/6` is `rdrand`, `/7` is `rdseed`.
    const FIRST_OPERAND: u8 = 0xf0;
    let is_suspicious = |bytes: &[u8]| match *bytes {
        [0x0f, 0xc7, operand, ..] => operand >= FIRST_OPERAND,
        [0x0f, 0x31, ..] | [0x0f, 0x01, 0xf9, ..] => true,
        [0xf3, 0x90, ..] => pauses,
        _ => false,
    };
    let places = memchr::memchr2_iter(0x0f, 0xf3, section.bytes).inspect(|_| attention::round());
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
