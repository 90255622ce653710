//! Transfers of control from one function to another.

use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, OpKind, Register};

use crate::attention;

/// A call, or a jump out of the function, which is a call at its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Transfer {
    /// Its address.
    pub addr: u64,
    /// Number of bytes of its code.
    pub len: usize,
    /// The way in which control leaves.
    pub kind: TransferKind,
    /// The place that control goes to.
    pub target: Target,
}

/// The way in which control leaves a function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TransferKind {
    /// It comes back to the next instruction.
    Call,
    /// It does not come back.
    Jump,
    /// It leaves only if a condition holds.
    ConditionalJump,
}

/// The target of a transfer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Target {
    /// This address.
    Address(u64),
    /// The address held by this constant slot (a procedure called through the global offset table).
    Slot(u64),
    /// The address held by this register; most jumps of this kind stay in their function.
    Register(Register),
}

impl Transfer {
    /// The transfer that `instruction` is, if it is one, in a function of these addresses.
    pub(super) fn of(
        instruction: &Instruction,
        function: std::ops::Range<u64>,
        is_constant: impl Fn(u64) -> bool,
    ) -> Option<Self> {
        let (kind, target) = match instruction.flow_control() {
            FlowControl::Call => (TransferKind::Call, near_target(instruction)?),
            FlowControl::UnconditionalBranch => (TransferKind::Jump, near_target(instruction)?),
            FlowControl::ConditionalBranch => (TransferKind::ConditionalJump, near_target(instruction)?),
            FlowControl::IndirectCall => (TransferKind::Call, indirect_target(instruction, is_constant)?),
            FlowControl::IndirectBranch => (TransferKind::Jump, indirect_target(instruction, is_constant)?),
            _ => return None,
        };
        let stays = matches!(target, Target::Address(to) if function.contains(&to));
        let leaves = kind == TransferKind::Call || !stays;
        leaves.then(|| Self { addr: instruction.ip(), len: instruction.len(), kind, target })
    }
}

/// The jumps by which control leaves a function, whose code begins at the address `start`: their addresses, and their targets; `None`: memory
/// that may change tells, or the code cannot be read.
pub fn tail_calls(code: &[u8], start: u64) -> Vec<(u64, Option<Target>)> {
    use FlowControl::{ConditionalBranch, IndirectBranch, UnconditionalBranch};
    let function = start..start.wrapping_add(code.len() as u64);
    let is_inside =
        |target: &Option<Target>| matches!(target, Some(Target::Address(to)) if function.contains(to));
    Decoder::with_ip(64, code, start, DecoderOptions::NONE)
        .into_iter()
        .inspect(|_| attention::round())
        .filter(|jump| {
            jump.is_invalid()
                || matches!(jump.flow_control(), ConditionalBranch | IndirectBranch | UnconditionalBranch)
        })
        .map(|jump| (jump.ip(), near_target(&jump).or_else(|| indirect_target(&jump, |_| true))))
        .filter(|(_, target)| !is_inside(target))
        .collect()
}

fn near_target(instruction: &Instruction) -> Option<Target> {
    (instruction.op0_kind() == OpKind::NearBranch64)
        .then(|| Target::Address(instruction.near_branch_target()))
}

/// The target of a call or a jump through a register or a constant slot.
pub(super) fn indirect_target(
    instruction: &Instruction,
    is_constant: impl Fn(u64) -> bool,
) -> Option<Target> {
    if instruction.op0_kind() == OpKind::Register {
        return Some(Target::Register(instruction.op0_register()));
    }
    if instruction.op0_kind() != OpKind::Memory || !instruction.is_ip_rel_memory_operand() {
        return None;
    }
    let addr = instruction.ip_rel_memory_address();
    is_constant(addr).then_some(Target::Slot(addr))
}
