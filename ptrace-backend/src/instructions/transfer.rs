//! Where control leaves a function for another.

use iced_x86::{FlowControl, Instruction, OpKind, Register};

/// A call, or a jump out of the function, which is a call at its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Transfer {
    /// Where it is.
    pub addr: u64,
    /// How many bytes of code it has.
    pub len: usize,
    /// How control leaves.
    pub kind: TransferKind,
    /// Where it goes.
    pub target: Target,
}

/// How control leaves a function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TransferKind {
    /// It comes back to the next instruction.
    Call,
    /// It does not come back.
    Jump,
    /// It leaves only if a condition holds.
    ConditionalJump,
}

/// Where a transfer goes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Target {
    /// To this address.
    Address(u64),
    /// To the address held by this constant slot (a procedure called through the global offset table).
    Slot(u64),
    /// To the address held by this register; most jumps of this kind stay in their function.
    Register(Register),
}

impl Transfer {
    /// What `instruction` is, if it is one, in a function of these addresses.
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

fn near_target(instruction: &Instruction) -> Option<Target> {
    (instruction.op0_kind() == OpKind::NearBranch64)
        .then(|| Target::Address(instruction.near_branch_target()))
}

/// Where a call or a jump through a register or a constant slot goes.
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
