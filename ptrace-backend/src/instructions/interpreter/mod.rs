//! An interpreter of the common instructions of general registers, for what a thread would do next: it works on copies of the thread's
//! registers and memory, and costs a hundredth of a step of the processor's under `ptrace`.
//!
//! Unknown are string instructions, the kernel's, and all vector instructions but moves of whole registers. The registers that no
//! instruction has written are unknown as well. That is told, and nothing guessed.

mod arithmetic;

use iced_x86::{ConditionCode, EncodingKind, FlowControl, Instruction, Mnemonic, OpKind, Register};

pub use self::arithmetic::ARITHMETIC;
use self::arithmetic::{
    CARRY, Computed, OVERFLOW, add, extended, holds, masked, overflow, rotate, shift, signed, subtract,
};
use super::registers::{set, value};
use crate::os::Regs;

/// The widest vector register, in bytes.
const WIDEST: usize = 32;

/// Memory on which instructions work.
pub trait InterpretedMemory {
    /// Fills the bytes with those at an address. `false`: they cannot be read.
    fn read(&mut self, address: u64, bytes: &mut [u8]) -> bool;

    /// `false`: there is no such memory.
    fn write(&mut self, address: u64, bytes: &[u8]) -> bool;
}

/// A thread's registers, and what instructions make of them.
pub struct Interpreter {
    /// As they are behind the last instruction.
    pub regs: Regs,
    /// The vector registers, with the numbers of bytes that are known, the lowest ones.
    vectors: [([u8; WIDEST], usize); 16],
}

/// The result of an instruction that the interpreter knows; `None`: it does not, or memory is missing.
type Known = Option<()>;

impl Interpreter {
    /// A thread whose vector registers are not known.
    #[must_use]
    pub fn new(regs: Regs) -> Self {
        Self { regs, vectors: [([0; WIDEST], 0); 16] }
    }

    /// Runs the instruction at which the thread stands. `None`: it is not known, and nothing is to be made of the state.
    pub fn step(&mut self, instruction: &Instruction, memory: &mut impl InterpretedMemory) -> Known {
        self.regs.rip = instruction.next_ip();
        if instruction.flow_control() != FlowControl::Next {
            return self.transfer(instruction, memory);
        }
        match instruction.mnemonic() {
            Mnemonic::Nop | Mnemonic::Endbr64 | Mnemonic::Pause => Some(()),
            Mnemonic::Mfence | Mnemonic::Lfence | Mnemonic::Sfence => Some(()),
            Mnemonic::Mov | Mnemonic::Movzx => {
                let new = self.operand(instruction, 1, memory)?;
                self.put(instruction, 0, new, memory)
            }
            Mnemonic::Movsx | Mnemonic::Movsxd => {
                let new = extended(self.operand(instruction, 1, memory)?, bits(instruction, 1)?);
                self.put(instruction, 0, new, memory)
            }
            Mnemonic::Lea => {
                let address = self.address(instruction, 1)?;
                self.put(instruction, 0, address, memory)
            }
            Mnemonic::Push => {
                let size = u64::from(instruction.stack_pointer_increment().unsigned_abs());
                let new = self.operand(instruction, 0, memory)?;
                let rsp = self.regs.rsp.wrapping_sub(size);
                memory.write(rsp, &new.to_le_bytes()[..usize::try_from(size).ok()?]).then_some(())?;
                self.regs.rsp = rsp;
                Some(())
            }
            Mnemonic::Pop if instruction.op0_kind() == OpKind::Register => {
                let size = usize::try_from(instruction.stack_pointer_increment()).ok()?;
                let popped = load(self.regs.rsp, size, memory)?;
                self.regs.rsp = self.regs.rsp.wrapping_add(size as u64);
                self.put(instruction, 0, popped, memory)
            }
            Mnemonic::Leave => {
                let rbp = load(self.regs.rbp, 8, memory)?;
                self.regs.rsp = self.regs.rbp.wrapping_add(8);
                self.regs.rbp = rbp;
                Some(())
            }
            Mnemonic::Cdqe => self.accumulate(extended(self.regs.rax, 32), 64),
            Mnemonic::Cwde => self.accumulate(extended(self.regs.rax, 16), 32),
            Mnemonic::Cdq => self.sign_into_rdx(32),
            Mnemonic::Cqo => self.sign_into_rdx(64),
            Mnemonic::Movups
            | Mnemonic::Movaps
            | Mnemonic::Movdqu
            | Mnemonic::Movdqa
            | Mnemonic::Vmovups
            | Mnemonic::Vmovaps
            | Mnemonic::Vmovdqu
            | Mnemonic::Vmovdqa => self.move_vector(instruction, memory),
            Mnemonic::Vzeroupper => {
                self.vectors.iter_mut().for_each(|vector| clear_upper(vector, 16));
                Some(())
            }
            _ if instruction.condition_code() != ConditionCode::None => self.conditional(instruction, memory),
            _ => self.arithmetic(instruction, memory),
        }
    }

    fn transfer(&mut self, instruction: &Instruction, memory: &mut impl InterpretedMemory) -> Known {
        match instruction.flow_control() {
            FlowControl::ConditionalBranch => {
                // `jrcxz` and `loop` have conditions of their own.
                if holds(instruction.condition_code(), self.regs.eflags)? {
                    self.regs.rip = instruction.near_branch_target();
                }
            }
            FlowControl::UnconditionalBranch => self.regs.rip = near(instruction)?,
            FlowControl::IndirectBranch if instruction.mnemonic() == Mnemonic::Jmp => {
                self.regs.rip = self.operand(instruction, 0, memory)?;
            }
            flow @ (FlowControl::Call | FlowControl::IndirectCall)
                if instruction.mnemonic() == Mnemonic::Call =>
            {
                let target = match flow {
                    FlowControl::Call => near(instruction)?,
                    _ => self.operand(instruction, 0, memory)?,
                };
                let rsp = self.regs.rsp.wrapping_sub(8);
                memory.write(rsp, &instruction.next_ip().to_le_bytes()).then_some(())?;
                (self.regs.rsp, self.regs.rip) = (rsp, target);
            }
            FlowControl::Return if instruction.mnemonic() == Mnemonic::Ret => {
                self.regs.rip = load(self.regs.rsp, 8, memory)?;
                let size = u64::try_from(instruction.stack_pointer_increment()).ok()?;
                self.regs.rsp = self.regs.rsp.wrapping_add(size);
            }
            _ => return None,
        }
        Some(())
    }

    /// Sets a register or a byte by a condition.
    fn conditional(&mut self, instruction: &Instruction, memory: &mut impl InterpretedMemory) -> Known {
        let holds = holds(instruction.condition_code(), self.regs.eflags)?;
        let is_move = instruction.op_count() == 2;
        // A move whose condition does not hold clears the upper half of a narrow register all the same.
        let new = match (is_move, holds) {
            (false, holds) => holds.into(),
            (true, true) => self.operand(instruction, 1, memory)?,
            (true, false) => self.operand(instruction, 0, memory)?,
        };
        self.put(instruction, 0, new, memory)
    }

    fn arithmetic(&mut self, instruction: &Instruction, memory: &mut impl InterpretedMemory) -> Known {
        let mnemonic = instruction.mnemonic();
        let width = bits(instruction, 0)?;
        let a = self.operand(instruction, 0, memory)?;
        let carry = self.regs.eflags & CARRY;
        let carried = if matches!(mnemonic, Mnemonic::Adc | Mnemonic::Sbb) { carry } else { 0 };
        // Instructions of one operand come first.
        let computed = match mnemonic {
            Mnemonic::Inc => add(a, 1, 0, width),
            Mnemonic::Dec => subtract(a, 1, 0, width),
            Mnemonic::Neg => subtract(0, a, 0, width),
            Mnemonic::Not => return self.put(instruction, 0, !a, memory),
            Mnemonic::Mul | Mnemonic::Div => return self.pair(mnemonic, a, width),
            Mnemonic::Imul if instruction.op_count() > 1 => return self.product(instruction, memory),
            _ => {
                let b = self.operand(instruction, 1, memory)?;
                match mnemonic {
                    Mnemonic::Add | Mnemonic::Adc | Mnemonic::Xadd => add(a, b, carried, width),
                    Mnemonic::Sub | Mnemonic::Sbb | Mnemonic::Cmp => subtract(a, b, carried, width),
                    Mnemonic::And | Mnemonic::Test => Computed::new(a & b, width, 0),
                    Mnemonic::Or => Computed::new(a | b, width, 0),
                    Mnemonic::Xor => Computed::new(a ^ b, width, 0),
                    Mnemonic::Shl | Mnemonic::Shr | Mnemonic::Sar => match shift(mnemonic, a, b, width) {
                        Some(computed) => computed,
                        None => return self.put(instruction, 0, a, memory),
                    },
                    Mnemonic::Rol | Mnemonic::Ror => match rotate(mnemonic, a, b, width) {
                        Some(Computed { result, flags }) => Computed {
                            result,
                            flags: self.regs.eflags & ARITHMETIC & !(CARRY | OVERFLOW) | flags,
                        },
                        None => return self.put(instruction, 0, a, memory),
                    },
                    Mnemonic::Xchg => {
                        self.put(instruction, 0, b, memory)?;
                        return self.put(instruction, 1, a, memory);
                    }
                    Mnemonic::Cmpxchg => return self.compare_exchange(instruction, (a, b), width, memory),
                    _ => return None,
                }
            }
        };
        let result = self.keep(computed);
        if matches!(mnemonic, Mnemonic::Inc | Mnemonic::Dec) {
            self.regs.eflags = self.regs.eflags & !CARRY | carry;
        }
        if matches!(mnemonic, Mnemonic::Cmp | Mnemonic::Test) {
            return Some(());
        }
        self.put(instruction, 0, result, memory)?;
        if mnemonic == Mnemonic::Xadd { self.put(instruction, 1, a, memory) } else { Some(()) }
    }

    fn compare_exchange(
        &mut self,
        instruction: &Instruction,
        (found, new): (u64, u64),
        width: u32,
        memory: &mut impl InterpretedMemory,
    ) -> Known {
        let expected = masked(self.regs.rax, width);
        self.keep(subtract(expected, found, 0, width));
        if expected == found {
            return self.put(instruction, 0, new, memory);
        }
        // It writes what is there.
        self.put(instruction, 0, found, memory)?;
        self.accumulate(found, width)
    }

    /// A product of two operands, as wide as they are.
    fn product(&mut self, instruction: &Instruction, memory: &mut impl InterpretedMemory) -> Known {
        let last = instruction.op_count() - 1;
        let width = bits(instruction, 0)?;
        let factor = |operand| Some(i128::from(signed(self.operand(instruction, operand, memory)?, width)));
        let [a, b] = [last - 1, last].map(factor);
        let product = a? * b?;
        let is_cut = i128::from(signed(product as u64, width)) != product;
        let result = self.keep(Computed::new(product as u64, width, overflow(is_cut)));
        self.put(instruction, 0, result, memory)
    }

    /// A product that is twice as wide as its factors, or a quotient of such a dividend, with its rest.
    fn pair(&mut self, mnemonic: Mnemonic, operand: u64, width: u32) -> Known {
        if width < 32 {
            return None;
        }
        let [low, high] = [self.regs.rax, self.regs.rdx].map(|half| u128::from(masked(half, width)));
        let (low, high) = if mnemonic == Mnemonic::Mul {
            let product = low * u128::from(operand);
            let high = masked((product >> width) as u64, width);
            self.keep(Computed::new(product as u64, width, overflow(high != 0)));
            (masked(product as u64, width), high)
        } else {
            let dividend = high << width | low;
            let quotient = u64::try_from(dividend.checked_div(operand.into())?).ok()?;
            if masked(quotient, width) != quotient {
                return None;
            }
            (quotient, (dividend % u128::from(operand)) as u64)
        };
        self.accumulate(low, width)?;
        self.assign(if width == 64 { Register::RDX } else { Register::EDX }, high)
    }

    /// Keeps the flags of a result, which is returned.
    fn keep(&mut self, computed: Computed) -> u64 {
        self.regs.eflags = self.regs.eflags & !ARITHMETIC | computed.flags;
        computed.result
    }

    /// The address of an operand in memory.
    fn address(&self, instruction: &Instruction, operand: u32) -> Option<u64> {
        let register = |register: Register, _: usize, _: usize| match register {
            Register::FS => Some(self.regs.fs_base),
            Register::GS => Some(self.regs.gs_base),
            Register::CS | Register::DS | Register::ES | Register::SS => Some(0),
            register => value(&self.regs, register),
        };
        instruction.virtual_address(operand, 0, register)
    }

    /// An operand of up to 8 bytes.
    fn operand(
        &self,
        instruction: &Instruction,
        operand: u32,
        memory: &mut impl InterpretedMemory,
    ) -> Option<u64> {
        match instruction.op_kind(operand) {
            OpKind::Register => value(&self.regs, instruction.op_register(operand)),
            OpKind::Memory => {
                load(self.address(instruction, operand)?, instruction.memory_size().size(), memory)
            }
            _ => instruction.try_immediate(operand).ok(),
        }
    }

    fn put(
        &mut self,
        instruction: &Instruction,
        operand: u32,
        new: u64,
        memory: &mut impl InterpretedMemory,
    ) -> Known {
        match instruction.op_kind(operand) {
            OpKind::Register => self.assign(instruction.op_register(operand), new),
            OpKind::Memory => {
                let size = instruction.memory_size().size();
                let address = self.address(instruction, operand)?;
                memory.write(address, new.to_le_bytes().get(..size)?).then_some(())
            }
            _ => None,
        }
    }

    /// Puts so many bits into the register that results go into.
    fn accumulate(&mut self, new: u64, width: u32) -> Known {
        let register = match width {
            8 => Register::AL,
            16 => Register::AX,
            32 => Register::EAX,
            _ => Register::RAX,
        };
        self.assign(register, new)
    }

    fn assign(&mut self, register: Register, new: u64) -> Known {
        let is_upper = matches!(register, Register::AH | Register::BH | Register::CH | Register::DH);
        (register.is_gpr() && !is_upper).then(|| set(&mut self.regs, register, new))
    }

    fn sign_into_rdx(&mut self, width: u32) -> Known {
        let sign = (signed(self.regs.rax, width) >> 63).cast_unsigned();
        self.assign(if width == 64 { Register::RDX } else { Register::EDX }, sign)
    }

    /// Moves a whole vector register, or as much of it as the narrower one has.
    fn move_vector(&mut self, instruction: &Instruction, memory: &mut impl InterpretedMemory) -> Known {
        let register = |operand| Some(instruction.op_register(operand)).filter(|it| it.is_vector_register());
        let len = register(0).or_else(|| register(1))?.size();
        let mut moved = [0; WIDEST];
        let bytes = moved.get_mut(..len)?;
        match register(1) {
            Some(from) => {
                let (all, known) = self.vectors.get(from.number())?;
                (*known >= len).then(|| bytes.copy_from_slice(&all[..len]))?;
            }
            None => memory.read(self.address(instruction, 1)?, bytes).then_some(())?,
        }
        let Some(to) = register(0) else {
            return memory.write(self.address(instruction, 0)?, bytes).then_some(());
        };
        let vector = self.vectors.get_mut(to.number())?;
        vector.0[..len].copy_from_slice(&moved[..len]);
        vector.1 = vector.1.max(len);
        // Instructions of the newer form clear the rest.
        if instruction.encoding() == EncodingKind::VEX {
            clear_upper(vector, len);
        }
        Some(())
    }
}

/// Clears a vector register from this byte on.
fn clear_upper((bytes, known): &mut ([u8; WIDEST], usize), from: usize) {
    bytes[from..].fill(0);
    if *known >= from {
        *known = WIDEST;
    }
}

fn near(instruction: &Instruction) -> Option<u64> {
    Some(instruction.near_branch_target()).filter(|target| *target != 0)
}

fn load(address: u64, size: usize, memory: &mut impl InterpretedMemory) -> Option<u64> {
    let mut bytes = [0; 8];
    memory.read(address, bytes.get_mut(..size).filter(|bytes| !bytes.is_empty())?).then_some(())?;
    Some(u64::from_le_bytes(bytes))
}

/// The width of an operand, in bits.
fn bits(instruction: &Instruction, operand: u32) -> Option<u32> {
    let bytes = match instruction.op_kind(operand) {
        OpKind::Register => instruction.op_register(operand).size(),
        OpKind::Memory => instruction.memory_size().size(),
        // Immediates are as wide as what they meet.
        _ if operand > 0 => return bits(instruction, 0),
        _ => return None,
    };
    (1..=8).contains(&bytes).then_some(bytes as u32 * 8)
}
