//! A thread's registers, by their DWARF numbers.

/// A thread's registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Registers {
    /// rax rdx rcx rbx rsi rdi rbp rsp r8 … r15: the order of their DWARF numbers.
    pub gpr: [u64; 16],
    /// The instruction pointer.
    pub pc: u64,
}

/// The DWARF number of the column that holds the return address.
pub(super) const RETURN_ADDRESS: u16 = 16;

impl Registers {
    pub(super) fn get(&self, number: u16) -> Option<u64> {
        if number == RETURN_ADDRESS { Some(self.pc) } else { self.gpr.get(usize::from(number)).copied() }
    }

    pub(super) fn set(&mut self, number: u16, value: u64) {
        match self.gpr.get_mut(usize::from(number)) {
            Some(register) => *register = value,
            None if number == RETURN_ADDRESS => self.pc = value,
            None => {}
        }
    }
}
