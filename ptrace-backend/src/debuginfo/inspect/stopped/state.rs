//! Register contents of a stopped thread's processor.

use crate::debuginfo::registers::Registers;

/// A stopped thread's registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ThreadState {
    /// The general registers.
    pub registers: Registers,
    /// xmm0 to xmm15, the first byte lowest. Without them floating-point variables of optimised code are unknown.
    pub vectors: Option<[u128; 16]>,
    /// The base of the `fs` segment. Without it thread-local variables are unknown.
    pub thread_pointer: Option<u64>,
}
