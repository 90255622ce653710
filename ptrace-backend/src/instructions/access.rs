//! The bytes that a candidate touches, given the registers of the thread that stands before it.

use iced_x86::{CodeSize, Register};
use libc::user_regs_struct;

use super::candidate::{AccessKind, Callee, Candidate, Compared, MemoryOperand};
use super::machine::Machine;
use super::memory_access::{Accesses, Extent, Mask, MemoryAccess};
use super::memory_function::{MemoryFunction, StringScanner};
use super::registers;

/// The direction flag: string instructions go downwards.
const DIRECTION: u64 = 1 << 10;

impl Candidate {
    /// The value with which eight bytes that it reads are compared, in this state.
    pub(crate) fn compared(&self, machine: &impl Machine) -> Option<u64> {
        let value = |register| registers::value(machine.registers(), register);
        match self.compared_with? {
            Compared::Register(register) => value(register),
            Compared::Slot(base, displacement) => {
                let mut bytes = [0; 8];
                let is_there = machine.read(value(base)?.wrapping_add(displacement), &mut bytes);
                is_there.then(|| u64::from_le_bytes(bytes))
            }
        }
    }

    /// Everything that the instruction may touch if it runs in this state, whatever of the state is known.
    ///
    /// Operations other than moves under a mask count in full, and so do comparisons of string instructions where memory is not
    /// known, or that go downwards. Elements that are next to each other are one range.
    #[must_use]
    pub fn accesses(&self, machine: &impl Machine) -> Accesses {
        if let AccessKind::Call(callee) = self.kind {
            let function = callee.function(machine);
            return function.map(|function| function.accesses(machine)).unwrap_or_default();
        }
        let mut found = Accesses::new();
        for operand in &self.operands {
            match operand.extent {
                Extent::Indexed { lanes, mask } => found.extend(operand.elements(machine, lanes, mask)),
                Extent::Masked { lanes, mask } => found.extend(operand.side_by_side(machine, lanes, mask)),
                _ => found.extend(operand.range(machine.registers())),
            }
        }
        if let [MemoryOperand { extent: Extent::Repeated { until_equal: Some(until_equal) }, .. }, ..] =
            self.operands[..]
        {
            self.end_early(&mut found, until_equal, machine);
        }
        found
    }

    /// Whether what it touches depends on what stands in memory: a function, or a repeated comparison.
    pub(crate) fn is_as_long_as_memory_says(&self) -> bool {
        let compares =
            |operand: &MemoryOperand| matches!(operand.extent, Extent::Repeated { until_equal: Some(_) });
        matches!(self.kind, AccessKind::Call(_)) || self.operands.iter().any(compares)
    }

    /// The ranges of a repeated comparison as far as it gets: a search for the end of a string has no other limit.
    fn end_early(&self, full: &mut Accesses, until_equal: bool, machine: &impl Machine) {
        let regs = machine.registers();
        if regs.eflags & DIRECTION != 0 {
            return;
        }
        let unit = self.operands.first().map_or(1, |operand| u64::from(operand.size));
        let text = StringScanner { machine, unit };
        let len = match full[..] {
            [one] => text.searched(one.addr, regs.rax, one.len / unit, until_equal),
            [one, other] => text.compared(one.addr, other.addr, one.len / unit, until_equal),
            _ => return,
        };
        if len > 0 {
            full.iter_mut().for_each(|access| access.len = len);
        }
    }

    /// Whether every processor carries out these accesses of the instruction in one step: one access of memory within an aligned
    /// word of eight bytes. A function of a library goes through memory byte by byte as far as one can know; where it copies
    /// eight bytes at once, it may do so twice.
    #[must_use]
    pub fn is_one_step(&self, accesses: &[MemoryAccess]) -> bool {
        const WORD: u64 = 8;
        let is_in_word =
            |access: &MemoryAccess| access.len <= WORD && access.addr % WORD + access.len <= WORD;
        let is_element =
            |access: &MemoryAccess| self.operands.iter().any(|operand| u64::from(operand.size) == access.len);
        match (self.kind, accesses) {
            (AccessKind::LockedUpdate | AccessKind::CompareExchange, _) | (_, []) => true,
            (AccessKind::Call(Callee::Known(function)), [_]) if function.is_indivisible() => true,
            (AccessKind::Call(_), [access]) => access.len == 1,
            (_, [access]) => is_in_word(access) && is_element(access),
            _ => false,
        }
    }

    /// Whether this compare-and-swap will write, if its memory holds `current` (the upper bytes being 0).
    #[must_use]
    pub fn will_succeed(&self, regs: &user_regs_struct, current: u128) -> bool {
        let Some(operand) = self.operands.first().filter(|_| self.kind == AccessKind::CompareExchange) else {
            return false;
        };
        let size = operand.size as usize;
        let expected = if self.pair {
            let half = registers::mask(size / 2);
            (u128::from(regs.rdx & half) << (4 * size)) | u128::from(regs.rax & half)
        } else {
            u128::from(regs.rax & registers::mask(size))
        };
        current == expected
    }
}

impl Callee {
    fn function(self, machine: &impl Machine) -> Option<MemoryFunction> {
        match self {
            Self::Known(function) => Some(function),
            Self::Register(register) => {
                machine.memory_function(registers::value(machine.registers(), register)?)
            }
        }
    }
}

impl MemoryOperand {
    /// The bytes touched, if there are any and general-purpose registers say which.
    #[must_use]
    pub fn range(&self, regs: &user_regs_struct) -> Option<MemoryAccess> {
        let addr = self.memory.virtual_address(0, |register, _, _| registers::value(regs, register))?;
        let size = u64::from(self.size);
        let (addr, len) = match self.extent {
            Extent::Single => (addr, size),
            Extent::Repeated { .. } => self.repeated(addr, regs),
            Extent::BitOffset(register) => (addr.wrapping_add(bit_displacement(regs, register, size)?), size),
            Extent::Masked { lanes, .. } => (addr, size * u64::from(lanes)),
            Extent::Indexed { .. } => return None,
        };
        (len > 0).then_some(MemoryAccess { addr, len, read: self.read, write: self.write })
    }

    /// The lowest address and the length of what a repeated string instruction touches from `first` on.
    fn repeated(&self, first: u64, regs: &user_regs_struct) -> (u64, u64) {
        let narrow = self.memory.address_size() == CodeSize::Code32;
        let count = regs.rcx & registers::mask(if narrow { 4 } else { 8 });
        let size = u64::from(self.size);
        let len = count.saturating_mul(size);
        let down = regs.eflags & DIRECTION != 0;
        let lowest = if down { first.wrapping_add(size).wrapping_sub(len) } else { first };
        (lowest, len)
    }

    /// The elements of a gather or scatter, in the order of their addresses.
    fn elements(&self, machine: &impl Machine, lanes: u32, mask: Mask) -> Vec<MemoryAccess> {
        let Some(indices) = machine.vector(self.memory.index().number()) else { return Vec::new() };
        let lanes = (0..lanes as usize).filter(|&lane| mask.has(machine, lane));
        joined(lanes.filter_map(|lane| self.element(machine.registers(), &indices, lane)).collect())
    }

    /// The elements that a mask says; all of them, where it is not known.
    fn side_by_side(&self, machine: &impl Machine, lanes: u32, mask: Mask) -> Vec<MemoryAccess> {
        let Some(all) = self.range(machine.registers()) else { return Vec::new() };
        if !mask.is_known(machine) {
            return vec![all];
        }
        let len = u64::from(self.size);
        let lanes = (0..u64::from(lanes)).filter(|&lane| mask.has(machine, lane as usize));
        joined(
            lanes.map(|lane| MemoryAccess { addr: all.addr.wrapping_add(lane * len), len, ..all }).collect(),
        )
    }

    fn element(&self, regs: &user_regs_struct, indices: &[u8], lane: usize) -> Option<MemoryAccess> {
        let addr = self.memory.virtual_address(lane, |register, lane, width| {
            if register.is_vector_register() {
                return index(indices, lane, width);
            }
            registers::value(regs, register)
        })?;
        Some(MemoryAccess { addr, len: u64::from(self.size), read: self.read, write: self.write })
    }
}

/// Accesses of one kind by their addresses, those next to each other as one.
fn joined(mut accesses: Vec<MemoryAccess>) -> Vec<MemoryAccess> {
    accesses.sort_by_key(|access| access.addr);
    accesses.dedup_by(|next, last| {
        let distance = next.addr - last.addr;
        let joined = distance <= last.len;
        if joined {
            last.len = last.len.max(distance.saturating_add(next.len));
        }
        joined
    });
    accesses
}

impl Mask {
    fn is_known(self, machine: &impl Machine) -> bool {
        match self {
            Self::Bits(register) => machine.mask(register.number()).is_some(),
            Self::Signs(register, _) => machine.vector(register.number()).is_some(),
        }
    }

    fn has(self, machine: &impl Machine, lane: usize) -> bool {
        match self {
            Self::Bits(register) => machine.mask(register.number()).is_some_and(|bits| bits >> lane & 1 != 0),
            Self::Signs(register, width) => {
                let elements = machine.vector(register.number());
                elements.is_some_and(|bytes| bytes[(lane + 1) * width as usize - 1] & 0x80 != 0)
            }
        }
    }
}

/// Distance in bytes from the address in the instruction to the element with the bit that `register` chooses: bit
/// offsets are signed and may lead out of the operand.
fn bit_displacement(regs: &user_regs_struct, register: Register, size: u64) -> Option<u64> {
    let offset = registers::value(regs, register)?;
    let unused = 64 - 8 * u32::try_from(register.size()).ok()?;
    let offset = (offset << unused).cast_signed() >> unused;
    let bits = i64::try_from(8 * size).ok()?;
    Some((offset.div_euclid(bits) * (bits / 8)).cast_unsigned())
}

fn index(indices: &[u8], lane: usize, width: usize) -> Option<u64> {
    let bytes = indices.get(lane * width..(lane + 1) * width)?;
    let mut value = [0; 8];
    value.get_mut(..width)?.copy_from_slice(bytes);
    Some(u64::from_le_bytes(value))
}
