//! Instructions that do not touch memory and still must not run unseen.

use iced_x86::{Decoder, DecoderOptions, Instruction, Mnemonic, Register};
use libc::user_regs_struct;

use super::registers;
use super::stack::switch::NewStack;

/// An instruction whose result the program could tell one execution from another by, or by which it gives way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TrappedInstruction {
    /// Its address.
    pub addr: u64,
    /// Number of bytes of its code.
    pub len: usize,
    /// Its kind.
    pub kind: TrappedInstructionKind,
    /// The register that a random number goes to.
    destination: Register,
    /// The stack from then on, for [`SpecialKind::StackSwitch`].
    pub(crate) new_stack: Option<NewStack>,
}

/// The kind of such an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TrappedInstructionKind {
    /// `syscall`.
    Syscall,
    /// `rdtsc`.
    Rdtsc,
    /// `rdtscp`.
    Rdtscp,
    /// `rdrand`.
    Rdrand,
    /// `rdseed`.
    Rdseed,
    /// `pause`.
    Pause,
    /// `mfence`, or what compilers have in its place: an indivisible instruction that leaves the top of the stack as it is.
    Fence,
    /// It makes `rsp` point somewhere, as where a coroutine goes on.
    StackSwitch,
}

impl TrappedInstructionKind {
    /// Whether it changes neither memory nor registers.
    #[must_use]
    pub fn leaves_all_as_it_is(self) -> bool {
        matches!(self, Self::Fence | Self::Pause)
    }

    /// Whether it reads what is made up: the time, or a random number.
    #[must_use]
    pub fn is_answered(self) -> bool {
        self.is_time() || matches!(self, Self::Rdrand | Self::Rdseed)
    }

    /// Whether it reads the processor's time stamps.
    #[must_use]
    pub fn is_time(self) -> bool {
        matches!(self, Self::Rdtsc | Self::Rdtscp)
    }
}

/// Carry, parity, auxiliary carry, zero, sign and overflow.
const STATUS_FLAGS: u64 = 0x8d5;
const CARRY: u64 = 1;

impl TrappedInstruction {
    /// The instruction that this code begins with, at this address, if it is one of these.
    pub(crate) fn decode(code: &[u8], addr: u64) -> Option<Self> {
        Self::of(&Decoder::with_ip(64, code, addr, DecoderOptions::NONE).decode(), true)
    }

    /// The trapped instruction that `instruction` is, if it is one, in a function that keeps a frame pointer or not.
    pub(super) fn of(instruction: &Instruction, frame_pointer: bool) -> Option<Self> {
        let new_stack = NewStack::of(instruction, frame_pointer);
        let kind = match instruction.mnemonic() {
            Mnemonic::Syscall => TrappedInstructionKind::Syscall,
            Mnemonic::Rdtsc => TrappedInstructionKind::Rdtsc,
            Mnemonic::Rdtscp => TrappedInstructionKind::Rdtscp,
            Mnemonic::Rdrand => TrappedInstructionKind::Rdrand,
            Mnemonic::Rdseed => TrappedInstructionKind::Rdseed,
            Mnemonic::Pause => TrappedInstructionKind::Pause,
            Mnemonic::Mfence => TrappedInstructionKind::Fence,
            Mnemonic::Or if is_stack_fence(instruction) => TrappedInstructionKind::Fence,
            _ if new_stack.is_some() => TrappedInstructionKind::StackSwitch,
            _ => return None,
        };
        let destination = instruction.op0_register();
        Some(Self { addr: instruction.ip(), len: instruction.len(), kind, destination, new_stack })
    }

    /// Puts the registers into the state after the instruction, with `result` for what it read (a time or a random
    /// number). `rdtscp` says that it ran on processor 0. Not for `syscall` and switches of the stack, which are left as they were.
    pub fn complete(&self, regs: &mut user_regs_struct, result: u64) {
        match self.kind {
            TrappedInstructionKind::Syscall | TrappedInstructionKind::StackSwitch => return,
            TrappedInstructionKind::Pause | TrappedInstructionKind::Fence => {}
            TrappedInstructionKind::Rdtsc => set_time(regs, result),
            TrappedInstructionKind::Rdtscp => {
                set_time(regs, result);
                regs.rcx = 0;
            }
            TrappedInstructionKind::Rdrand | TrappedInstructionKind::Rdseed => {
                registers::set(regs, self.destination, result);
                regs.eflags = (regs.eflags & !STATUS_FLAGS) | CARRY;
            }
        }
        regs.rip = self.addr.wrapping_add(self.len as u64);
    }
}

/// `lock or dword ptr [rsp], 0`, or a few bytes away.
fn is_stack_fence(instruction: &Instruction) -> bool {
    let is_zero = instruction.try_immediate(1).is_ok_and(|value| value == 0);
    let is_on_top =
        instruction.memory_base() == Register::RSP && instruction.memory_index() == Register::None;
    instruction.has_lock_prefix() && is_on_top && is_zero
}

fn set_time(regs: &mut user_regs_struct, time: u64) {
    regs.rax = time & 0xffff_ffff;
    regs.rdx = time >> 32;
}
