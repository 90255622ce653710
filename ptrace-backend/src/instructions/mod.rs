//! What the backend needs to know about x86-64 machine code: functions over bytes and register values, nothing else.
//!
//! [`scan`] finds the instructions of a function at which a thread may have to stop. A [`Candidate`] says, given the
//! registers, which bytes it is about to touch. [`relocate`] makes a copy of an instruction that runs elsewhere, so
//! that a trap can stay where the instruction was.

mod access;
mod candidate;
mod registers;
mod relocate;
mod scan;
mod shape;
mod special;
mod stub;

pub use access::MemoryAccess;
pub use candidate::{Candidate, Extent, Kind, Operand, StackBase, StackSlot};
pub use relocate::{NotRelocatable, Relocated, relocate};
pub use scan::{FunctionCode, Target, Transfer, TransferKind, scan};
pub use shape::FunctionShape;
pub use special::{Special, SpecialKind};
