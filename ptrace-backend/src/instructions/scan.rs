//! Goes through the code of one function and lists what matters to the scheduler.

use std::ops::Range;

use iced_x86::{
    Code, Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpKind,
    Register,
};

use super::candidate::{AccessKind, Candidate, Compared};
use super::loaded_pointers::{escaping_slots, loaded_slots};
use super::loops::waiting_places;
use super::reached::{may_be_switch, names_inside};
use super::shape::FunctionShape;
use super::transfer::{Target, Transfer, indirect_target};
use super::trapped_instruction::{TrappedInstruction, TrappedInstructionKind};
use crate::attention;

/// The instructions of one range of code that were found to matter.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FunctionCode {
    /// Instructions that touch memory.
    pub candidates: Vec<Candidate>,
    /// Instructions that are handled for another reason.
    pub trapped_instructions: Vec<TrappedInstruction>,
    /// The transfers of control out of the range, to a place that is known or to one that is in a register.
    pub transfers: Vec<Transfer>,
    /// The constant slots that addresses are loaded from, for calls through registers.
    pub loaded_slots: Vec<u64>,
    /// Those of them with whose addresses it may do more than to call them.
    pub escaping_slots: Vec<u64>,
    /// Control may leave for a place that only memory or a register tells, jumps of a `switch` left out.
    pub leaves_for_unknown: bool,
    /// Targets of those of its jumps and calls that name them.
    pub branch_targets: Vec<u64>,
    /// Addresses that its instructions name as values, among other large numbers: of variables, functions and labels.
    pub addresses: Vec<u64>,
    /// One of its own jumps leads into the middle of an instruction, or an instruction names a place between its beginning and its end: there
    /// is data among its instructions, or two of them begin there.
    pub is_out_of_step: bool,
    /// The first address that holds no valid instruction. The code behind it was not looked at: a trap in the middle of
    /// an instruction would change the program.
    pub undecoded: Option<u64>,
}

impl FunctionCode {
    /// The same of all parts of a function.
    pub(crate) fn of_parts(mut parts: impl Iterator<Item = Self>) -> Self {
        let first = parts.next().unwrap_or_default();
        parts.fold(first, |mut all, part| {
            all.candidates.extend(part.candidates);
            all.trapped_instructions.extend(part.trapped_instructions);
            all.transfers.extend(part.transfers);
            all.loaded_slots.extend(part.loaded_slots);
            all.escaping_slots.extend(part.escaping_slots);
            all.leaves_for_unknown |= part.leaves_for_unknown;
            all.branch_targets.extend(part.branch_targets);
            all.addresses.extend(part.addresses);
            all.is_out_of_step |= part.is_out_of_step;
            all.undecoded = all.undecoded.or(part.undecoded);
            all
        })
    }
}

/// Everything of interest in `code`, which starts at the address `start` and belongs to a function of this shape.
///
/// `is_constant` says of an address that no thread writes there once the program runs (read-only data, the global
/// offset table after relocation): loads from such a place are no candidates. Nor are operands in the control block of the thread
/// (`fs`), and instructions that compute an address or prefetch.
pub fn scan(
    code: &[u8],
    start: u64,
    shape: &FunctionShape,
    is_constant: impl Fn(u64) -> bool,
) -> FunctionCode {
    let end = start.wrapping_add(code.len() as u64);
    let mut found = FunctionCode::default();
    let mut info = InstructionInfoFactory::new();
    let mut before = Instruction::default();
    // The register into which the last candidate has loaded, up to the next jump.
    let mut loaded = None;
    let mut begins = Beginnings::of(code.len());
    let mut inside = NamedInside::default();
    for instruction in &mut Decoder::with_ip(64, code, start, DecoderOptions::NONE) {
        attention::round();
        if instruction.is_invalid() {
            found.undecoded = Some(instruction.ip());
            break;
        }
        begins.put(instruction.ip().wrapping_sub(start));
        inside.look_at(&instruction, &(start..end));
        let trapped = TrappedInstruction::of(&instruction, shape.frame_pointer);
        found.trapped_instructions.extend(trapped);
        found.transfers.extend(Transfer::of(&instruction, start..end, &is_constant));
        if instruction.near_branch_target() != 0 {
            found.branch_targets.push(instruction.near_branch_target());
        }
        found.addresses.extend(named_addresses(&instruction));
        found.loaded_slots.extend(loaded_slots(&instruction, &is_constant));
        found.leaves_for_unknown |= leaves_for_unknown(&instruction, &before, &is_constant);
        before = instruction;
        if trapped.is_some_and(|trapped| {
            matches!(trapped.kind, TrappedInstructionKind::Fence | TrappedInstructionKind::StackSwitch)
        }) {
            continue;
        }
        if let Some(compared) = loaded.and_then(|register| Compared::with(&instruction, register))
            && let Some(load) = found.candidates.last_mut()
        {
            load.compared_with = Some(compared);
        }
        let candidate = Candidate::of(&instruction, &mut info, shape);
        let candidate = candidate.filter(|candidate| !loads_constant(&instruction, candidate, &is_constant));
        loaded = match &candidate {
            Some(_) => loaded_register(&instruction),
            None => loaded.filter(|_| instruction.flow_control() == FlowControl::Next),
        };
        found.candidates.extend(candidate);
    }
    let own = found.branch_targets.iter().filter(|target| (start..end).contains(target));
    let is_between = |target: &u64| !begins.has(target.wrapping_sub(start));
    let leads_between = || own.clone().chain(&inside.labels).any(is_between);
    found.is_out_of_step = found.undecoded.is_none() && (inside.has_data || leads_between());
    if !found.loaded_slots.is_empty() {
        found.escaping_slots = escaping_slots(code, start, &is_constant);
    }
    if !found.candidates.is_empty() {
        let waiting = waiting_places(code, start);
        for candidate in &mut found.candidates {
            candidate.may_spin = waiting.binary_search(&candidate.addr).is_ok();
        }
    }
    found
}

/// Places among the instructions of a function that an instruction names other than to jump there.
#[derive(Default)]
struct NamedInside {
    /// There is data at one of them: it is read, or its address handed to a function.
    has_data: bool,
    /// Those whose addresses were computed: of code, where they are jumped to.
    labels: Vec<u64>,
    /// The register that holds the last one of these, up to the next jump or call.
    register: Option<Register>,
}

impl NamedInside {
    fn look_at(&mut self, instruction: &Instruction, code: &Range<u64>) {
        let uses = [instruction.memory_base(), instruction.memory_index()];
        self.has_data |= self.register.is_some_and(|register| uses.contains(&register));
        if instruction.mnemonic() == Mnemonic::Lea && names_inside(instruction, code) {
            self.labels.push(instruction.ip_rel_memory_address());
            self.register = Some(instruction.op0_register());
            return;
        }
        self.has_data |= names_inside(instruction, code);
        if instruction.flow_control() != FlowControl::Next {
            self.has_data |= self.register.is_some() && instruction.flow_control() == FlowControl::Call;
            self.register = None;
        }
    }
}

/// The offsets at which instructions begin, one bit for each byte of code.
struct Beginnings(Vec<u64>);

impl Beginnings {
    fn of(len: usize) -> Self {
        Self(vec![0; len.div_ceil(u64::BITS as usize)])
    }

    fn put(&mut self, offset: u64) {
        if let Some(word) = self.0.get_mut((offset / u64::from(u64::BITS)) as usize) {
            *word |= 1 << (offset % u64::from(u64::BITS));
        }
    }

    fn has(&self, offset: u64) -> bool {
        let word = self.0.get((offset / u64::from(u64::BITS)) as usize);
        word.is_some_and(|word| word >> (offset % u64::from(u64::BITS)) & 1 != 0)
    }
}

/// The addresses that an instruction names as values, among other numbers that could be some.
fn named_addresses(instruction: &Instruction) -> impl Iterator<Item = u64> + '_ {
    /// Nothing is mapped below it.
    const LOWEST: u64 = 0x1_0000;
    let is_address = instruction.mnemonic() == Mnemonic::Lea && instruction.is_ip_rel_memory_operand();
    let relative = is_address.then(|| instruction.ip_rel_memory_address());
    let is_wide = |&operand: &u32| {
        let kind = instruction.op_kind(operand);
        matches!(kind, OpKind::Immediate32 | OpKind::Immediate32to64 | OpKind::Immediate64)
    };
    let numbers = (0..instruction.op_count()).filter(is_wide).map(|operand| instruction.immediate(operand));
    relative.into_iter().chain(numbers).filter(|&address| address >= LOWEST)
}

fn loads_constant(
    instruction: &Instruction,
    candidate: &Candidate,
    is_constant: impl Fn(u64) -> bool,
) -> bool {
    if candidate.kind != AccessKind::Load {
        return false;
    }
    let jump_table = instruction.flow_control() == FlowControl::IndirectBranch
        && instruction.memory_base() == Register::None
        && is_constant(instruction.memory_displacement64());
    jump_table || candidate.operands.iter().all(|operand| operand.fixed_address().is_some_and(&is_constant))
}

/// Whether an instruction transfers control to an address that only memory or a register holds. The jump of a `switch`
/// adds an offset of a constant table to the table's address right before, or reads the table itself; it stays in its
/// function.
fn leaves_for_unknown(
    instruction: &Instruction,
    before: &Instruction,
    is_constant: impl Fn(u64) -> bool,
) -> bool {
    let reads_table =
        instruction.memory_base() == Register::None && is_constant(instruction.memory_displacement64());
    let is_switch =
        may_be_switch(instruction, before) && (instruction.op0_kind() == OpKind::Register || reads_table);
    match instruction.flow_control() {
        FlowControl::IndirectCall => {
            !matches!(indirect_target(instruction, is_constant), Some(Target::Slot(_)))
        }
        FlowControl::IndirectBranch if is_switch => false,
        FlowControl::IndirectBranch => {
            !matches!(indirect_target(instruction, is_constant), Some(Target::Slot(_)))
        }
        _ => false,
    }
}

/// The register into which an instruction loads eight bytes.
fn loaded_register(instruction: &Instruction) -> Option<Register> {
    let is_load = instruction.code() == Code::Mov_r64_rm64 && instruction.op1_kind() == OpKind::Memory;
    is_load.then(|| instruction.op0_register())
}
