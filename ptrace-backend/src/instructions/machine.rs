//! The state of a thread by which the bytes that it is about to touch are decided.

use libc::user_regs_struct;

use super::memory_function::MemoryFunction;

/// The state of a thread that stands before an instruction.
///
/// General-purpose registers alone are such a state too: one in which nothing else is known.
pub trait Machine {
    /// The general-purpose registers.
    fn registers(&self) -> &user_regs_struct;

    /// The bytes of a vector register, by its number (0 for `xmm0`, `ymm0`, `zmm0`), as many as the processor has.
    fn vector(&self, _number: usize) -> Option<[u8; 64]> {
        None
    }

    /// A mask register of AVX-512 (0 for `k0`).
    fn mask(&self, _number: usize) -> Option<u64> {
        None
    }

    /// Fills `into` with what stands in memory at `addr`; `false` where that cannot be read.
    fn read(&self, _addr: u64, _into: &mut [u8]) -> bool {
        false
    }

    /// The number of eight bytes at an address, 0 where nothing is.
    fn word(&self, addr: u64) -> u64 {
        let mut bytes = [0; 8];
        if self.read(addr, &mut bytes) { u64::from_le_bytes(bytes) } else { 0 }
    }

    /// The memory function that begins at a code address.
    fn memory_function(&self, _addr: u64) -> Option<MemoryFunction> {
        None
    }
}

impl Machine for user_regs_struct {
    fn registers(&self) -> &user_regs_struct {
        self
    }
}
