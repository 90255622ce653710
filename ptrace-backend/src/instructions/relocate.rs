//! Copies of instructions that run elsewhere.
//!
//! A copy does what the instruction did where it was, flags, registers, stack and faults included, and then goes on
//! behind the original. It uses no register and no memory of the program, so it needs a stub for each instruction and
//! no state. Two things differ: the processor's record of the last floating-point instruction's address, and where a
//! thread is seen to be while it is inside ([`Relocated::restore`] turns that back).

use iced_x86::{
    Code, ConstantOffsets, Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic, OpKind, Register,
};
use libc::user_regs_struct;

use super::stub::{Progress, Stub};

/// A copy of an instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Relocated {
    /// The bytes to put at the address given.
    pub code: Vec<u8>,
    to: u64,
    from: u64,
    /// The progress of a thread that stands at an offset.
    progress: Vec<(usize, Progress)>,
}

/// The instruction does not work elsewhere.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NotRelocatable {
    /// There is no instruction.
    #[error("the bytes at {0:#x} are no instruction")]
    Invalid(u64),
    /// It names memory relative to its own address that is out of reach from the new one.
    #[error("{operand:#x} is out of reach from {to:#x}")]
    OutOfReach {
        /// The memory.
        operand: u64,
        /// The address that the copy would have.
        to: u64,
    },
    /// The kernel reports its address, or the program sees it (a system call leaves it in `rcx`).
    #[error("the address of the {0} instruction is visible")]
    Visible(&'static str),
    /// A kind of transfer that is not supported.
    #[error("{0} is not supported")]
    Transfer(&'static str),
}

impl Relocated {
    /// Whether an address is inside the copy.
    #[must_use]
    pub fn contains(&self, address: u64) -> bool {
        address.wrapping_sub(self.to) < self.code.len() as u64
    }

    /// If a thread stands inside the copy, makes its registers those of a thread outside that has done as much of the
    /// original: before the instruction, or behind it. Says whether it stood inside.
    pub fn restore(&self, regs: &mut user_regs_struct) -> bool {
        if !self.contains(regs.rip) {
            return false;
        }
        let offset = (regs.rip - self.to) as usize;
        let progress = self.progress.iter().rev().find(|(start, _)| *start <= offset);
        match progress.map_or(Progress::Before, |(_, progress)| *progress) {
            Progress::Before => regs.rip = self.from,
            Progress::Pushed(call) => {
                regs.rsp = regs.rsp.wrapping_add(8);
                regs.rip = call;
            }
            Progress::Done(next) | Progress::Saved(next) => regs.rip = next,
        }
        true
    }
}

/// A copy, to be put at the address `to`, of the instruction that `bytes` begin with and whose address is `from`.
///
/// # Errors
/// When the instruction cannot do elsewhere exactly what it does at `from`.
pub fn relocate(bytes: &[u8], from: u64, to: u64) -> Result<Relocated, NotRelocatable> {
    let mut decoder = Decoder::with_ip(64, bytes, from, DecoderOptions::NONE);
    let instruction = decoder.decode();
    if instruction.is_invalid() {
        return Err(NotRelocatable::Invalid(from));
    }
    let mut stub = Stub::new(to);
    append(&mut stub, &decoder, &instruction, bytes)?;
    if goes_on(&instruction) {
        stub.mark(Progress::Done(instruction.next_ip()));
        stub.jump(instruction.next_ip());
    }
    let (code, progress) = stub.finish();
    Ok(Relocated { code, to, from, progress })
}

/// Whether what follows an instruction in memory is what runs next.
pub(super) fn goes_on(instruction: &Instruction) -> bool {
    use FlowControl::{Call, ConditionalBranch, IndirectBranch, IndirectCall, Return, UnconditionalBranch};
    !matches!(
        instruction.flow_control(),
        Call | IndirectCall | UnconditionalBranch | ConditionalBranch | IndirectBranch | Return
    )
}

/// Adds a copy of the instruction that a decoder has just decoded, `bytes` beginning with it. If it goes on, so does the code
/// behind the copy.
pub(super) fn append(
    stub: &mut Stub,
    decoder: &Decoder<'_>,
    instruction: &Instruction,
    bytes: &[u8],
) -> Result<(), NotRelocatable> {
    refuse(instruction)?;
    let constants = decoder.get_constant_offsets(instruction);
    let bytes = &bytes[..instruction.len()];
    match instruction.flow_control() {
        FlowControl::Call => push_and_jump(stub, instruction),
        FlowControl::IndirectCall => indirect_call(stub, instruction)?,
        FlowControl::UnconditionalBranch => stub.jump(instruction.near_branch_target()),
        FlowControl::ConditionalBranch => conditional(stub, instruction)?,
        _ => copy(stub, instruction, bytes, constants)?,
    }
    Ok(())
}

fn refuse(instruction: &Instruction) -> Result<(), NotRelocatable> {
    use NotRelocatable::{Transfer, Visible};
    match instruction.mnemonic() {
        Mnemonic::Syscall => return Err(Visible("syscall")),
        Mnemonic::Sysenter => return Err(Visible("sysenter")),
        Mnemonic::Hlt => return Err(Visible("hlt")),
        _ => {}
    }
    match instruction.flow_control() {
        FlowControl::Interrupt => Err(Visible("interrupt")),
        FlowControl::Exception => Err(Visible("undefined")),
        FlowControl::XbeginXabortXend => Err(Transfer("a transaction")),
        FlowControl::Return if !is_near_return(instruction) => Err(Transfer("a far return")),
        FlowControl::Call | FlowControl::UnconditionalBranch | FlowControl::ConditionalBranch
            if instruction.op0_kind() != OpKind::NearBranch64 =>
        {
            Err(Transfer("a transfer that is not a near 64-bit one"))
        }
        FlowControl::IndirectCall if !matches!(instruction.code(), Code::Call_rm64) => {
            Err(Transfer("a far call"))
        }
        FlowControl::IndirectCall if instruction.op0_register() == Register::RSP => {
            Err(Transfer("a call to the stack pointer"))
        }
        FlowControl::IndirectCall if reads_return_slot(instruction) => {
            Err(Transfer("a call through memory below the stack pointer"))
        }
        FlowControl::IndirectBranch if !matches!(instruction.code(), Code::Jmp_rm64) => {
            Err(Transfer("a far jump"))
        }
        _ => Ok(()),
    }
}

/// Whether its operand may be where the return address goes: the copy writes that first.
fn reads_return_slot(instruction: &Instruction) -> bool {
    instruction.memory_base().full_register() == Register::RSP
        && instruction.memory_displacement64() >> 63 != 0
}

fn is_near_return(instruction: &Instruction) -> bool {
    matches!(instruction.code(), Code::Retnq | Code::Retnq_imm16)
}

/// The same bytes, but for a displacement that counts from the instruction's own address.
fn copy(
    stub: &mut Stub,
    instruction: &Instruction,
    bytes: &[u8],
    constants: ConstantOffsets,
) -> Result<(), NotRelocatable> {
    let mut copied = bytes.to_vec();
    if instruction.is_ip_rel_memory_operand() {
        let operand = instruction.ip_rel_memory_address();
        let after = stub.here().wrapping_add(bytes.len() as u64);
        let distance = operand.wrapping_sub(after);
        // With 32-bit addressing the sum wraps around, so everything that can be named is in reach.
        let wraps = instruction.memory_base() == Register::EIP;
        let fits = wraps || i32::try_from(distance.cast_signed()).is_ok();
        let at = constants.displacement_offset();
        match copied.get_mut(at..at + 4) {
            Some(field) if fits => field.copy_from_slice(&(distance as u32).to_le_bytes()),
            _ => return Err(NotRelocatable::OutOfReach { operand, to: stub.here() }),
        }
    }
    stub.bytes(&copied);
    Ok(())
}

/// A call returns to where the original would have returned, so that the stack is the same for the callee, for
/// unwinding, and if the stub is reused.
fn push_and_jump(stub: &mut Stub, instruction: &Instruction) {
    stub.push(instruction.next_ip());
    stub.mark(Progress::Pushed(instruction.ip()));
    stub.jump(instruction.near_branch_target());
}

fn indirect_call(stub: &mut Stub, instruction: &Instruction) -> Result<(), NotRelocatable> {
    stub.push(instruction.next_ip());
    stub.mark(Progress::Pushed(instruction.ip()));
    let mut jump = *instruction;
    jump.set_code(Code::Jmp_rm64);
    if jump.memory_base().full_register() == Register::RSP {
        // The push has moved the stack pointer since.
        jump.set_memory_displacement64(jump.memory_displacement64().wrapping_add(8));
        jump.set_memory_displ_size(jump.memory_base().size() as u32);
    }
    let operand = instruction.memory_displacement64();
    stub.encode(&jump).map_err(|_| NotRelocatable::OutOfReach { operand, to: stub.here() })
}

/// `jcc`, `loop`, `jrcxz`: the same condition, and a jump for either way.
fn conditional(stub: &mut Stub, instruction: &Instruction) -> Result<(), NotRelocatable> {
    let (next, target) = (instruction.next_ip(), instruction.near_branch_target());
    let mut condition = *instruction;
    condition.as_short_branch();
    condition.set_near_branch64(stub.here());
    stub.encode(&condition).map_err(|_| NotRelocatable::Transfer("a conditional jump of this kind"))?;
    let over = stub.len();
    stub.mark(Progress::Done(next));
    stub.jump(next);
    stub.land(over);
    stub.mark(Progress::Done(target));
    stub.jump(target);
    Ok(())
}
