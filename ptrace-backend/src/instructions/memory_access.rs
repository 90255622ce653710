//! Ranges of memory that instructions touch, as plain data.

use smallvec::SmallVec;

/// A range of memory that an instruction is about to touch.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct MemoryAccess {
    /// The first byte.
    pub addr: u64,
    /// Number of bytes; never 0.
    pub len: u64,
    /// They may be read.
    pub read: bool,
    /// They may be written.
    pub write: bool,
}

/// The ranges that one instruction touches: mostly one or two.
pub type Accesses = SmallVec<[MemoryAccess; 2]>;
