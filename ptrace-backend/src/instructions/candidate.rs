//! An instruction that touches memory, and what kind of event that is.

use iced_x86::{Code, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind, Register, UsedMemory};
use smallvec::SmallVec;

use super::memory_access::{Extent, Mask};
use super::memory_function::MemoryFunction;
use super::shape::FunctionShape;
use super::transfer::Transfer;

/// An instruction that may have to be a key point.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Candidate {
    /// Its address.
    pub addr: u64,
    /// Number of bytes of its code.
    pub len: usize,
    /// Its effect on memory.
    pub kind: AccessKind,
    /// The memory that it touches, the stack slots of pushes, pops and calls left out.
    pub operands: SmallVec<[MemoryOperand; 1]>,
    /// Set if everything that it touches is in the frame of its function.
    pub stack: Option<StackSlot>,
    /// Everything that it touches is the thread's own thread-local memory.
    pub thread_local: bool,
    /// It is in a loop in which a thread may wait for memory to change.
    pub may_spin: bool,
    /// A store that goes past the cache, and is not ordered with the stores after it.
    pub non_temporal: bool,
    /// The other operand of a comparison with the eight bytes of memory that it reads, by it or right behind it.
    pub compared_with: Option<Compared>,
    /// A compare-and-swap of two registers side by side (`cmpxchg8b`, `cmpxchg16b`).
    pub(super) pair: bool,
}

/// A value that memory is compared with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Compared {
    /// In this register.
    Register(Register),
    /// On the stack, so far from where this register points to.
    Slot(Register, u64),
}

/// The effect of an instruction on memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AccessKind {
    /// Reads, from one place or two.
    Load,
    /// Writes.
    Store,
    /// Reads and writes one place in one indivisible step.
    LockedUpdate,
    /// An indivisible compare-and-swap.
    CompareExchange,
    /// Reads and then writes one place, and another processor can get between the two.
    SplitUpdate,
    /// Reads one place and writes another.
    Move,
    /// A call of a function that reads and writes memory, or a jump to one.
    Call(Callee),
}

/// The function that is called.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Callee {
    /// This one.
    Known(MemoryFunction),
    /// The one whose address is in this register, if it is a memory function.
    Register(Register),
}

/// A memory operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MemoryOperand {
    /// Its address in terms of registers. The `memory_size` in it is not to be used: see [`MemoryOperand::size`].
    pub memory: UsedMemory,
    /// Number of bytes of one element; of all of them, as an upper limit, where the instruction has a mask that is not
    /// looked at.
    pub size: u32,
    /// It may be read.
    pub read: bool,
    /// It may be written.
    pub write: bool,
    /// The relation between the element's size and the range that is touched.
    pub extent: Extent,
}

/// The place of an operand in its function's frame.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct StackSlot {
    /// The register that the displacement counts from.
    pub base: StackBase,
    /// The constant part of the offset.
    pub displacement: i64,
    /// A register is added to it.
    pub indexed: bool,
}

/// The registers that point into the frame of a function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum StackBase {
    /// The stack pointer.
    Rsp,
    /// The frame pointer.
    Rbp,
}

/// The size of an `xsave` area up to the protection keys, which no processor so far exceeds without tiles.
const SAVE_AREA: u32 = 2696;
/// The largest operand whose size depends on the processor's state otherwise: one tile.
const TILE: u32 = 1024;

impl Candidate {
    /// The candidate that `instruction` is, if it touches memory, the control block of its thread left out.
    pub(super) fn of(
        instruction: &Instruction,
        info: &mut InstructionInfoFactory,
        shape: &FunctionShape,
    ) -> Option<Self> {
        let operands: SmallVec<[MemoryOperand; 1]> = explicit_memory(instruction, info)
            .iter()
            .map(|memory| MemoryOperand::of(instruction, *memory))
            .filter(|operand| operand.read || operand.write)
            .collect();
        if operands.iter().all(MemoryOperand::is_in_control_block) {
            return None;
        }
        let thread_local = operands.iter().all(MemoryOperand::is_thread_local);
        let kind = AccessKind::of(instruction, &operands)?;
        let stack = stack_slot(&operands, shape);
        let pair = matches!(instruction.mnemonic(), Mnemonic::Cmpxchg8b | Mnemonic::Cmpxchg16b);
        Some(Self {
            addr: instruction.ip(),
            len: instruction.len(),
            kind,
            operands,
            stack,
            thread_local,
            may_spin: false,
            non_temporal: is_non_temporal(instruction.mnemonic()),
            compared_with: Compared::by(instruction),
            pair,
        })
    }

    /// A call, or a jump out of a function, that reads and writes memory as its callee does.
    #[must_use]
    pub fn call(transfer: &Transfer, callee: Callee) -> Self {
        Self::of_function(transfer.addr, transfer.len, callee)
    }

    /// The first instruction of a memory function, which stands for a call of it through a pointer.
    #[must_use]
    pub(crate) fn entry(addr: u64, function: MemoryFunction) -> Self {
        Self::of_function(addr, 1, Callee::Known(function))
    }

    fn of_function(addr: u64, len: usize, callee: Callee) -> Self {
        Self {
            addr,
            len,
            kind: AccessKind::Call(callee),
            operands: SmallVec::new(),
            stack: None,
            thread_local: false,
            may_spin: false,
            non_temporal: false,
            compared_with: None,
            pair: false,
        }
    }

    /// The operand that an [`AccessKind::SplitUpdate`] reads and then writes: the value that was read has to be put back there
    /// before the instruction runs for its second event.
    #[must_use]
    pub fn split(&self) -> Option<&MemoryOperand> {
        self.operands
            .iter()
            .find(|operand| self.kind == AccessKind::SplitUpdate && operand.read && operand.write)
    }

    /// Instructions whose addresses or masks are in vector registers.
    pub(crate) fn needs_vectors(&self) -> bool {
        let is_in_vectors = |extent| matches!(extent, Extent::Indexed { .. } | Extent::Masked { .. });
        self.operands.iter().any(|operand| is_in_vectors(operand.extent))
    }

    /// Whether it empties the processor's store buffer.
    #[must_use]
    pub fn is_locked(&self) -> bool {
        matches!(self.kind, AccessKind::LockedUpdate | AccessKind::CompareExchange)
    }

    /// The address that the instruction touches in every execution, if no register is involved.
    #[must_use]
    pub fn fixed_address(&self) -> Option<u64> {
        match self.operands.as_slice() {
            [operand] => operand.fixed_address(),
            _ => None,
        }
    }
}

impl Compared {
    /// The other operand where an instruction compares eight bytes of memory.
    fn by(instruction: &Instruction) -> Option<Self> {
        let names_memory = |operand| instruction.op_kind(operand) == OpKind::Memory;
        match instruction.code() {
            Code::Cmpxchg_rm64_r64 if names_memory(0) => Some(Self::Register(Register::RAX)),
            Code::Cmp_rm64_r64 if names_memory(0) => Some(Self::Register(instruction.op1_register())),
            Code::Cmp_r64_rm64 if names_memory(1) => Some(Self::Register(instruction.op0_register())),
            _ => None,
        }
    }

    /// The other operand where an instruction compares this register.
    pub(super) fn with(instruction: &Instruction, register: Register) -> Option<Self> {
        if !matches!(instruction.code(), Code::Cmp_rm64_r64 | Code::Cmp_r64_rm64) {
            return None;
        }
        let is_it = |operand| {
            instruction.op_kind(operand) == OpKind::Register && instruction.op_register(operand) == register
        };
        let other = if is_it(0) { 1 } else { 0 };
        if !is_it(1 - other) {
            return None;
        }
        let is_slot = [Register::RBP, Register::RSP].contains(&instruction.memory_base())
            && instruction.memory_index() == Register::None;
        match instruction.op_kind(other) {
            OpKind::Register => Some(Self::Register(instruction.op_register(other))),
            OpKind::Memory if is_slot => {
                Some(Self::Slot(instruction.memory_base(), instruction.memory_displacement64()))
            }
            _ => None,
        }
    }
}

impl AccessKind {
    fn of(instruction: &Instruction, operands: &[MemoryOperand]) -> Option<Self> {
        let reads = operands.iter().any(|operand| operand.read);
        let writes = operands.iter().any(|operand| operand.write);
        let same = operands.iter().any(|operand| operand.read && operand.write);
        Some(match (reads, writes) {
            (false, false) => return None,
            (true, false) => Self::Load,
            (false, true) => Self::Store,
            (true, true) if !same => Self::Move,
            (true, true) if instruction.mnemonic() == Mnemonic::Xchg => Self::LockedUpdate,
            (true, true) if !instruction.has_lock_prefix() => Self::SplitUpdate,
            (true, true) if is_compare_exchange(instruction.mnemonic()) => Self::CompareExchange,
            (true, true) => Self::LockedUpdate,
        })
    }
}

impl MemoryOperand {
    fn of(instruction: &Instruction, memory: UsedMemory) -> Self {
        use OpAccess::{CondRead, CondWrite, Read, ReadCondWrite, ReadWrite, Write};
        let access = memory.access();
        let (size, extent) = match masked(instruction) {
            Some((size, lanes, mask)) => (size, Extent::Masked { lanes, mask }),
            None => (element_size(instruction, memory), Extent::of(instruction, memory)),
        };
        Self {
            memory,
            size,
            read: matches!(access, Read | CondRead | ReadWrite | ReadCondWrite),
            write: matches!(access, Write | CondWrite | ReadWrite | ReadCondWrite),
            extent,
        }
    }

    /// Whether it is the thread's own: a variable, or an element of one. A base register holds anything.
    fn is_thread_local(&self) -> bool {
        self.memory.segment() == Register::FS && self.memory.base() == Register::None
    }

    /// Whether it is in what the C library keeps of the thread (its own address, the stack protector's word), above the
    /// variables. `gs` points to wherever the program wants.
    fn is_in_control_block(&self) -> bool {
        let is_fixed = self.memory.base() == Register::None && self.memory.index() == Register::None;
        let is_above = self.memory.displacement().cast_signed() >= 0;
        self.is_thread_local() && is_fixed && is_above
    }

    /// Its address, if no register is involved.
    #[must_use]
    pub fn fixed_address(&self) -> Option<u64> {
        let fixed = self.memory.base() == Register::None
            && self.memory.index() == Register::None
            && !matches!(self.memory.segment(), Register::FS | Register::GS)
            && self.extent == Extent::Single;
        fixed.then(|| self.memory.displacement())
    }
}

impl Extent {
    fn of(instruction: &Instruction, memory: UsedMemory) -> Self {
        if memory.index().is_vector_register() {
            return Self::Indexed { lanes: lanes(instruction, memory), mask: Mask::of(instruction, memory) };
        }
        let repeated = instruction.has_rep_prefix() || instruction.has_repne_prefix();
        if repeated && instruction.is_string_instruction() {
            let compares = is_comparison(instruction.mnemonic());
            return Self::Repeated { until_equal: compares.then(|| instruction.has_repne_prefix()) };
        }
        let bit =
            matches!(instruction.mnemonic(), Mnemonic::Bt | Mnemonic::Bts | Mnemonic::Btr | Mnemonic::Btc);
        if bit && instruction.op1_kind() == OpKind::Register {
            return Self::BitOffset(instruction.op1_register());
        }
        Self::Single
    }
}

/// Whether a string instruction compares: its prefix says what ends it.
fn is_comparison(mnemonic: Mnemonic) -> bool {
    use Mnemonic::{Cmpsb, Cmpsd, Cmpsq, Cmpsw, Scasb, Scasd, Scasq, Scasw};
    matches!(mnemonic, Cmpsb | Cmpsd | Cmpsq | Cmpsw | Scasb | Scasd | Scasq | Scasw)
}

impl Mask {
    fn of(instruction: &Instruction, memory: UsedMemory) -> Self {
        if instruction.op_mask() != Register::None {
            return Self::Bits(instruction.op_mask());
        }
        // Destination, memory, mask: the elements of the mask are as wide as those of the destination.
        Self::Signs(instruction.op_register(2), element_size(instruction, memory))
    }
}

/// The size of an element, their number, and which of them are touched, where an instruction moves elements that are side by side under a
/// mask.
fn masked(instruction: &Instruction) -> Option<(u32, u32, Mask)> {
    use Mnemonic::{Maskmovdqu, Vmaskmovdqu, Vmaskmovpd, Vmaskmovps, Vpmaskmovd, Vpmaskmovq};
    use Mnemonic::{Vmovapd, Vmovaps, Vmovdqa32, Vmovdqa64, Vmovdqu8, Vmovdqu16, Vmovdqu32, Vmovdqu64};
    use Mnemonic::{Vmovupd, Vmovups};
    let register = |operand| instruction.op_register(operand);
    let (size, vector, mask) = match instruction.mnemonic() {
        // The memory may be the first operand or the last one; between them is the mask.
        Vmaskmovps | Vpmaskmovd => (4, register(1), Mask::Signs(register(1), 4)),
        Vmaskmovpd | Vpmaskmovq => (8, register(1), Mask::Signs(register(1), 8)),
        Maskmovdqu | Vmaskmovdqu => (1, register(2), Mask::Signs(register(2), 1)),
        mnemonic => {
            let size = match mnemonic {
                Vmovdqu8 => 1,
                Vmovdqu16 => 2,
                Vmovdqu32 | Vmovdqa32 | Vmovups | Vmovaps => 4,
                Vmovdqu64 | Vmovdqa64 | Vmovupd | Vmovapd => 8,
                _ => return None,
            };
            let mask = Some(instruction.op_mask()).filter(|&mask| mask != Register::None)?;
            let is_vector = |&operand: &u32| register(operand).is_vector_register();
            (size, register((0..2).find(is_vector)?), Mask::Bits(mask))
        }
    };
    Some((size, vector.size() as u32 / size, mask))
}

/// The memory that the instruction names, as opposed to the stack that it uses on the side.
fn explicit_memory<'a>(instruction: &Instruction, info: &'a mut InstructionInfoFactory) -> &'a [UsedMemory] {
    let used = info.info(instruction).used_memory();
    let names_memory = (0..instruction.op_count()).any(|index| instruction.op_kind(index) == OpKind::Memory);
    match (instruction.is_stack_instruction(), names_memory) {
        (false, _) => used,
        (true, false) => &[],
        // The decoder lists the named operand before the stack slot.
        (true, true) => used.get(..1).unwrap_or_default(),
    }
}

/// Stores that are not ordered like others.
fn is_non_temporal(mnemonic: Mnemonic) -> bool {
    use Mnemonic::{Maskmovdqu, Maskmovq, Movdir64b, Movdiri, Movntdq, Movnti, Movntpd, Movntps, Movntq};
    use Mnemonic::{Movntsd, Movntss, Vmaskmovdqu, Vmovntdq, Vmovntpd, Vmovntps};
    matches!(
        mnemonic,
        Movnti | Movntdq | Movntps | Movntpd | Movntq | Movntss | Movntsd | Vmovntdq | Vmovntps
    ) || matches!(mnemonic, Vmovntpd | Maskmovq | Maskmovdqu | Vmaskmovdqu | Movdiri | Movdir64b)
}

fn is_compare_exchange(mnemonic: Mnemonic) -> bool {
    matches!(mnemonic, Mnemonic::Cmpxchg | Mnemonic::Cmpxchg8b | Mnemonic::Cmpxchg16b)
}

fn element_size(instruction: &Instruction, memory: UsedMemory) -> u32 {
    // Of a repeated string instruction the decoder knows the size of the element only.
    let sizes = [memory.memory_size().size(), instruction.memory_size().size()];
    let known = sizes.into_iter().find(|size| *size > 0).and_then(|size| u32::try_from(size).ok());
    known.unwrap_or(if instruction.is_save_restore_instruction() { SAVE_AREA } else { TILE })
}

/// The number of elements of a gather or scatter: as many as fit both the indices and the data.
fn lanes(instruction: &Instruction, memory: UsedMemory) -> u32 {
    let indices = memory.index().size() as u32 / memory.vsib_size().max(1);
    let data = (0..instruction.op_count())
        .filter(|index| instruction.op_kind(*index) == OpKind::Register)
        .map(|index| instruction.op_register(index))
        .find(|register| register.is_vector_register())
        .map_or(u32::MAX, |register| register.size() as u32 / element_size(instruction, memory));
    indices.min(data)
}

fn stack_slot(operands: &[MemoryOperand], shape: &FunctionShape) -> Option<StackSlot> {
    let base = |operand: &MemoryOperand| match operand.memory.base() {
        Register::RSP if !shape.moves_stack => Some(StackBase::Rsp),
        Register::RBP if shape.frame_pointer => Some(StackBase::Rbp),
        _ => None,
    };
    if !operands.iter().all(|operand| base(operand).is_some()) {
        return None;
    }
    let first = operands.first()?;
    Some(StackSlot {
        base: base(first)?,
        displacement: first.memory.displacement().cast_signed(),
        indexed: first.memory.index() != Register::None,
    })
}
