//! The atomicity of an access, as its source means it.

use checker::operation::{Access, Atomicity};

use crate::control::state::memory::MemoryState;

/// The atomicity that the source means for the access of these objects by the instruction at an address.
pub(crate) fn atomicity(memory: &MemoryState, address: u64, accesses: &[Access]) -> Atomicity {
    if memory.layout.is_in_atomic_function(address) {
        return Atomicity::Atomic;
    }
    let known = accesses.iter().map(|access| memory.knowledge.is_atomic_data(&memory.layout, access.obj));
    let known: Option<Vec<bool>> = known.collect();
    match known {
        Some(known) if known.iter().all(|atomic| *atomic) => Atomicity::Atomic,
        Some(_) => Atomicity::Plain,
        None if memory.layout.hides_atomics(address) => Atomicity::Unknown,
        None => Atomicity::Plain,
    }
}
