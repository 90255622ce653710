//! Addresses of functions that code loads from constant slots (of the global offset table): what becomes of them.
//!
//! Compilers keep the address of a function that is called several times in a register. As long as the code does nothing but call it, each
//! call is one of this code's; an address that the code hands on may be called from anywhere.

use iced_x86::{
    Code, Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess,
    OpKind, Register,
};

use crate::attention;

/// Registers that a call leaves as they were, by the psABI of x86-64.
const KEPT: [Register; 6] =
    [Register::RBX, Register::RBP, Register::R12, Register::R13, Register::R14, Register::R15];

/// The constant slots that an instruction reads, other than to go where they lead: one, or several into a vector register.
pub(super) fn loaded_slots(
    instruction: &Instruction,
    is_constant: impl Fn(u64) -> bool,
) -> impl Iterator<Item = u64> {
    const SLOT: usize = 8;
    let is_load = instruction.is_ip_rel_memory_operand()
        && instruction.mnemonic() != Mnemonic::Lea
        && instruction.flow_control() == FlowControl::Next;
    let len = if is_load { instruction.memory_size().size() } else { 0 };
    let first = instruction.ip_rel_memory_address();
    (0..len / SLOT)
        .map(move |nth| first.wrapping_add((SLOT * nth) as u64))
        .filter(move |slot| is_constant(*slot))
}

/// The constant slots whose addresses the code, which begins at the address `start`, may do more with than to call them. Where control goes
/// by a jump that is not followed, and where the code ends, anything may be done with them.
pub(super) fn escaping_slots(code: &[u8], start: u64, is_constant: impl Fn(u64) -> bool) -> Vec<u64> {
    let instructions: Vec<Instruction> = Decoder::with_ip(64, code, start, DecoderOptions::NONE)
        .into_iter()
        .inspect(|_| attention::round())
        .take_while(|instruction| !instruction.is_invalid())
        .collect();
    let mut ways = Ways::of(&instructions);
    let mut found = Vec::new();
    for (nth, load) in instructions.iter().enumerate() {
        let mut slots = loaded_slots(load, &is_constant).peekable();
        let is_called = |ways: &mut Ways<'_>| {
            load.code() == Code::Mov_r64_rm64 && !ways.escapes(nth + 1, load.op0_register())
        };
        if slots.peek().is_some() && !is_called(&mut ways) {
            found.extend(slots);
        }
    }
    found
}

/// The use that an instruction makes of an address in a register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Use {
    None,
    /// The register holds something else afterwards.
    Ends,
    /// It calls the function, or jumps there.
    Transfers,
    Other,
}

/// The ways that control takes through code.
struct Ways<'c> {
    instructions: &'c [Instruction],
    info: InstructionInfoFactory,
    /// The places of instructions to which no jump from the beginning of the code leads: what handles exceptions of calls, and the cases of
    /// a `switch`.
    apart: Vec<usize>,
}

impl<'c> Ways<'c> {
    fn of(instructions: &'c [Instruction]) -> Self {
        let mut ways = Self { instructions, info: InstructionInfoFactory::new(), apart: Vec::new() };
        let mut is_reached = vec![false; instructions.len()];
        let mut next = vec![0];
        while let Some(nth) = next.pop() {
            attention::round();
            let Some(instruction) = instructions.get(nth) else { continue };
            if std::mem::replace(&mut is_reached[nth], true) {
                continue;
            }
            match instruction.flow_control() {
                FlowControl::UnconditionalBranch => next.push(ways.target(instruction)),
                FlowControl::ConditionalBranch => next.extend([nth + 1, ways.target(instruction)]),
                FlowControl::IndirectBranch | FlowControl::Return | FlowControl::Exception => {}
                _ => next.push(nth + 1),
            }
        }
        ways.apart = (0..instructions.len()).filter(|&nth| !is_reached[nth]).collect();
        ways
    }

    /// Whether the address that `register` holds before an instruction may get anywhere else.
    fn escapes(&mut self, first: usize, register: Register) -> bool {
        let is_kept = KEPT.contains(&register);
        let mut is_seen = vec![false; self.instructions.len()];
        let mut next = vec![first];
        while let Some(nth) = next.pop() {
            attention::round();
            if nth == self.instructions.len() {
                // Behind a call that does not return.
                continue;
            }
            if nth > self.instructions.len() {
                return true;
            }
            let instruction = &self.instructions[nth];
            if std::mem::replace(&mut is_seen[nth], true) {
                continue;
            }
            let used = self.used(instruction, register);
            match (used, instruction.flow_control()) {
                (Use::Other, _) => return true,
                (Use::Ends, FlowControl::Next) => {}
                (Use::None, FlowControl::Next) if nth + 1 == self.instructions.len() => return true,
                (Use::None, FlowControl::Next) => next.push(nth + 1),
                (Use::Transfers, FlowControl::IndirectBranch) => {}
                (Use::Transfers, _) if !is_kept => {}
                (Use::Transfers, _) | (Use::None, FlowControl::Call | FlowControl::IndirectCall)
                    if is_kept =>
                {
                    next.push(nth + 1);
                    next.extend(&self.apart);
                }
                (_, FlowControl::UnconditionalBranch) => next.push(self.target(instruction)),
                (_, FlowControl::ConditionalBranch) => next.extend([nth + 1, self.target(instruction)]),
                // It ends the process.
                (_, FlowControl::Exception) => {}
                (_, FlowControl::Return)
                    if !is_kept && register != Register::RAX && register != Register::RDX => {}
                _ => return true,
            }
        }
        false
    }

    /// The place of the instruction that a jump leads to; beyond all if it is another function's.
    fn target(&self, instruction: &Instruction) -> usize {
        let to = instruction.near_branch_target();
        self.instructions.binary_search_by_key(&to, Instruction::ip).unwrap_or(self.instructions.len() + 1)
    }

    fn used(&mut self, instruction: &Instruction, register: Register) -> Use {
        let is_indirect =
            matches!(instruction.flow_control(), FlowControl::IndirectCall | FlowControl::IndirectBranch);
        if is_indirect && instruction.op0_kind() == OpKind::Register && instruction.op0_register() == register
        {
            return Use::Transfers;
        }
        let used = self.info.info(instruction).used_registers().iter();
        let own = used.filter(|used| used.register().full_register() == register);
        own.fold(Use::None, |before, used| match used.access() {
            OpAccess::None | OpAccess::NoMemAccess => before,
            OpAccess::Write if before == Use::None && used.register().size() >= 4 => Use::Ends,
            OpAccess::CondWrite => before,
            _ => Use::Other,
        })
    }
}

#[cfg(test)]
mod tests {
    use iced_x86::MemoryOperand;
    use iced_x86::code_asm::{CodeAssembler, qword_ptr, r13, rax, rbx, rdi, rsp};

    use super::*;

    const CODE: u64 = 0x1000;
    const SLOT: u64 = 0x5000;

    /// Whether the address in the slot may get anywhere, in code that begins with this.
    fn escapes(write: impl FnOnce(&mut CodeAssembler) -> Result<(), iced_x86::IcedError>) -> bool {
        let mut code = CodeAssembler::new(64).unwrap();
        write(&mut code).unwrap();
        let code = code.assemble(CODE).unwrap();
        let found = escaping_slots(&code, CODE, |slot| slot == SLOT);
        assert!(found.iter().all(|slot| *slot == SLOT), "{found:x?}");
        !found.is_empty()
    }

    /// `mov register, [rip + slot]`
    fn load(code: &mut CodeAssembler, register: Register) -> Result<(), iced_x86::IcedError> {
        let slot = MemoryOperand::with_base_displ(Register::RIP, SLOT as i64);
        code.add_instruction(Instruction::with2(Code::Mov_r64_rm64, register, slot)?)
    }

    #[test]
    fn an_address_that_is_only_called_stays() {
        // Called in a loop, from a register that calls keep, which held something else before and does so afterwards.
        assert!(!escapes(|code| {
            let mut again = code.create_label();
            code.push(rbx)?;
            load(code, Register::RBX)?;
            code.set_label(&mut again)?;
            code.mov(rdi, rax)?;
            code.call(rbx)?;
            code.test(rax, rax)?;
            code.jne(again)?;
            code.pop(rbx)?;
            code.mov(rax, rbx)?;
            code.ret()
        }));
        // The last thing that a function does.
        assert!(!escapes(|code| {
            load(code, Register::RAX)?;
            code.jmp(rax)
        }));
        // Calls of others in between; the last one does not return.
        assert!(!escapes(|code| {
            let mut fails = code.create_label();
            code.push(r13)?;
            load(code, Register::R13)?;
            code.call(r13)?;
            code.test(rax, rax)?;
            code.je(fails)?;
            code.call(0x9000)?;
            code.call(r13)?;
            code.pop(r13)?;
            code.ret()?;
            code.set_label(&mut fails)?;
            code.call(0x9000)
        }));
    }

    #[test]
    fn an_address_that_is_handed_on_escapes() {
        // As an argument, as a result, to memory, to another register.
        assert!(escapes(|code| {
            load(code, Register::RDI)?;
            code.call(0x9000)?;
            code.ret()
        }));
        assert!(escapes(|code| {
            load(code, Register::RAX)?;
            code.ret()
        }));
        assert!(escapes(|code| {
            load(code, Register::RAX)?;
            code.mov(qword_ptr(rsp + 8), rax)?;
            code.call(rax)?;
            code.ret()
        }));
        assert!(escapes(|code| {
            load(code, Register::RAX)?;
            code.mov(rbx, rax)?;
            code.call(rbx)?;
            code.ret()
        }));
        // To where the code goes on elsewhere.
        assert!(escapes(|code| {
            load(code, Register::RBX)?;
            code.call(rbx)?;
            code.jmp(0x9000)
        }));
        // Only on one of two ways.
        assert!(escapes(|code| {
            let mut called = code.create_label();
            load(code, Register::RBX)?;
            code.test(rdi, rdi)?;
            code.je(called)?;
            code.mov(qword_ptr(rdi), rbx)?;
            code.set_label(&mut called)?;
            code.call(rbx)?;
            code.pop(rbx)?;
            code.ret()
        }));
        // In a vector register, with another one.
        assert!(escapes(|code| {
            let slots = MemoryOperand::with_base_displ(Register::RIP, SLOT as i64 - 8);
            let load = Instruction::with2(Code::Movups_xmm_xmmm128, Register::XMM0, slots)?;
            code.add_instruction(load)?;
            code.ret()
        }));
        // By what handles an exception that comes of a call.
        assert!(escapes(|code| {
            load(code, Register::RBX)?;
            code.call(rbx)?;
            code.pop(rbx)?;
            code.ret()?;
            code.mov(rdi, rbx)?;
            code.call(0x9000)
        }));
    }
}
