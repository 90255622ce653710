//! The backend's knowledge of x86-64 machine code: functions over bytes and register values, nothing else.
//!
//! [`scan`] finds the instructions of a function at which a thread may have to stop. A [`Candidate`] says, given the
//! thread's state ([`Machine`]), which bytes it is about to touch. [`relocate`] makes a copy of an instruction that
//! runs elsewhere, so that a trap can stay where the instruction was.

mod access;
mod candidate;
pub(crate) mod detour;
mod interpreter;
mod loaded_pointers;
mod loops;
mod machine;
mod memory_access;
mod memory_function;
mod reached;
mod registers;
mod relocate;
pub(crate) mod result;
mod scan;
mod shape;
pub(crate) mod stack;
mod stub;
mod transfer;
mod trapped_instruction;

pub use candidate::{AccessKind, Callee, Candidate, MemoryOperand, StackBase, StackSlot};
pub use interpreter::{ARITHMETIC, InterpretedMemory, Interpreter};
pub use machine::Machine;
pub use memory_access::{Accesses, Extent, Mask, MemoryAccess};
pub use memory_function::MemoryFunction;
pub use reached::{Reached, reached, reached_within};
pub use relocate::{NotRelocatable, Relocated, relocate};
pub use scan::{FunctionCode, scan};
pub use shape::FunctionShape;
pub(crate) use stack::frame_address::makes_frame_addresses;
pub use transfer::{Target, Transfer, TransferKind, tail_calls};
pub use trapped_instruction::{TrappedInstruction, TrappedInstructionKind};
