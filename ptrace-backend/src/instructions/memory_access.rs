//! Ranges of memory that instructions touch, as plain data.

use iced_x86::Register;
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

/// The number of an operand's elements, and their places.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Extent {
    /// One.
    Single,
    /// As many as `rcx` says, in the direction of the direction flag; of a comparison at most those through the first element
    /// that is equal (`Some(true)`), or that is not.
    Repeated {
        /// The result that ends a comparison.
        until_equal: Option<bool>,
    },
    /// One that is chosen by the bit offset in this register (`bts [m], rax`).
    BitOffset(Register),
    /// So many side by side.
    Masked {
        /// Number of elements.
        lanes: u32,
        /// The choice of those that count.
        mask: Mask,
    },
    /// So many, each with its own index in a vector register.
    Indexed {
        /// Number of indices.
        lanes: u32,
        /// The choice of those that count.
        mask: Mask,
    },
}

/// The choice of the elements that are touched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mask {
    /// The highest bit of each element of this vector register; an element has so many bytes.
    Signs(Register, u32),
    /// The bits of this mask register.
    Bits(Register),
}
