//! The shape of a function: whether it keeps a frame pointer, so that `rbp`-relative operands are on its stack, and
//! whether `rsp`-relative ones are.

use iced_x86::{
    Code, Decoder, DecoderOptions, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind, Register,
};

use super::stack::switch::NewStack;
use crate::attention;

/// The facts about a whole function by which one of its instructions is judged.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FunctionShape {
    /// `rbp` points into the function's own frame wherever it is used.
    pub frame_pointer: bool,
    /// It makes `rsp` point somewhere, which may be elsewhere than into its own frame.
    pub moves_stack: bool,
}

impl FunctionShape {
    /// The shape of the function whose code starts at the address `start`.
    ///
    /// A part of it that the compiler moved elsewhere (`name.cold`) has the shape of the function, not one of its own.
    #[must_use]
    pub fn of(code: &[u8], start: u64) -> Self {
        let mut info = InstructionInfoFactory::new();
        let (mut established, mut is_ordinary) = (false, false);
        // With a frame pointer, and without.
        let mut moves_stack = [false; 2];
        for instruction in &mut Decoder::with_ip(64, code, start, DecoderOptions::NONE) {
            attention::round();
            moves_stack[0] |= NewStack::of(&instruction, true).is_some();
            moves_stack[1] |= NewStack::of(&instruction, false).is_some();
            if establishes_frame(&instruction) {
                established = true;
            } else if writes_rbp(&mut info, &instruction) && !restores_callers(&instruction) {
                // An ordinary register after all: compilers use it as one when frame pointers are left out.
                is_ordinary = true;
            }
        }
        let frame_pointer = established && !is_ordinary;
        Self { frame_pointer, moves_stack: moves_stack[usize::from(!frame_pointer)] }
    }
}

/// `mov rbp, rsp`, `lea rbp, [rsp + n]`, `enter`.
fn establishes_frame(instruction: &Instruction) -> bool {
    let into_rbp = instruction.op0_register() == Register::RBP;
    match instruction.mnemonic() {
        Mnemonic::Mov => {
            into_rbp
                && instruction.op1_kind() == OpKind::Register
                && instruction.op1_register() == Register::RSP
        }
        Mnemonic::Lea => {
            into_rbp
                && instruction.memory_base() == Register::RSP
                && instruction.memory_index() == Register::None
        }
        Mnemonic::Enter => true,
        _ => false,
    }
}

/// `pop rbp`, `leave`: what follows is an exit, or code that belongs to another path.
fn restores_callers(instruction: &Instruction) -> bool {
    instruction.mnemonic() == Mnemonic::Leave
        || (instruction.code() == Code::Pop_r64 && instruction.op0_register() == Register::RBP)
}

fn writes_rbp(info: &mut InstructionInfoFactory, instruction: &Instruction) -> bool {
    info.info(instruction).used_registers().iter().any(|used| {
        used.register().full_register() == Register::RBP
            && !matches!(used.access(), OpAccess::None | OpAccess::Read | OpAccess::CondRead)
    })
}
