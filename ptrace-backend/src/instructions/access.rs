//! Which bytes a candidate touches, given the registers of the thread that stands before it.

use iced_x86::{CodeSize, Register};
use libc::user_regs_struct;
use smallvec::SmallVec;

use super::candidate::{Candidate, Extent, Kind, Operand};
use super::registers;

/// A range of memory that an instruction is about to touch.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct MemoryAccess {
    /// The first byte.
    pub addr: u64,
    /// How many bytes; never 0.
    pub len: u64,
    /// They may be read.
    pub read: bool,
    /// They may be written.
    pub write: bool,
}

/// The direction flag: string instructions go downwards.
const DIRECTION: u64 = 1 << 10;

impl Candidate {
    /// Everything that the instruction may touch if it runs with these registers.
    ///
    /// Writes under a mask, and comparisons that may end early, count in full. The elements of gathers and scatters
    /// are not in `regs`: [`Candidate::indexed_accesses`] has them.
    #[must_use]
    pub fn accesses(&self, regs: &user_regs_struct) -> SmallVec<[MemoryAccess; 2]> {
        self.operands.iter().filter_map(|operand| operand.access(regs)).collect()
    }

    /// The vector register that holds the indices of a gather or scatter, as its number (0 for `xmm0`, `ymm0`, `zmm0`).
    #[must_use]
    pub fn index_vector(&self) -> Option<usize> {
        self.indexed().map(|(operand, _)| operand.memory.index().number())
    }

    /// What a gather or scatter may touch, one access for each element, masked or not. `indices` are the bytes of the
    /// register [`Candidate::index_vector`]; elements past their end are left out.
    #[must_use]
    pub fn indexed_accesses(&self, regs: &user_regs_struct, indices: &[u8]) -> Vec<MemoryAccess> {
        let Some((operand, lanes)) = self.indexed() else { return Vec::new() };
        (0..lanes as usize).filter_map(|lane| operand.element(regs, indices, lane)).collect()
    }

    /// Whether this compare-and-swap will write, if its memory holds `current` (the upper bytes being 0).
    #[must_use]
    pub fn will_succeed(&self, regs: &user_regs_struct, current: u128) -> bool {
        let Some(operand) = self.operands.first().filter(|_| self.kind == Kind::CompareExchange) else {
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

    fn indexed(&self) -> Option<(&Operand, u32)> {
        self.operands.iter().find_map(|operand| match operand.extent {
            Extent::Indexed { lanes } => Some((operand, lanes)),
            _ => None,
        })
    }
}

impl Operand {
    /// The bytes touched, if there are any and general-purpose registers say which.
    #[must_use]
    pub fn access(&self, regs: &user_regs_struct) -> Option<MemoryAccess> {
        let addr = self.memory.virtual_address(0, |register, _, _| registers::value(regs, register))?;
        let size = u64::from(self.size);
        let (addr, len) = match self.extent {
            Extent::Single => (addr, size),
            Extent::Repeated => self.repeated(addr, regs),
            Extent::BitOffset(register) => (addr.wrapping_add(bit_displacement(regs, register, size)?), size),
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

/// How far from the address in the instruction the bit is that `register` chooses: bit offsets are signed and may
/// lead out of the operand.
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
