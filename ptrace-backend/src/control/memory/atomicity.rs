//! How the source means an access of memory.

use checker::operation::{Access, Atomicity};

use crate::control::process::Process;

impl Process {
    /// How the source means the access of these objects by the instruction at an address.
    pub(crate) fn atomicity(&self, address: u64, accesses: &[Access]) -> Atomicity {
        if self.memory.layout.is_in_atomic_function(address) {
            return Atomicity::Atomic;
        }
        let known =
            accesses.iter().map(|access| self.memory.shared.is_atomic_data(&self.memory.layout, access.obj));
        let known: Option<Vec<bool>> = known.collect();
        match known {
            Some(known) if known.iter().all(|atomic| *atomic) => Atomicity::Atomic,
            Some(_) => Atomicity::Plain,
            None if self.memory.layout.hides_atomics(address) => Atomicity::Unknown,
            None => Atomicity::Plain,
        }
    }
}
