//! Limits of time and memory, interrupts, and a busy machine.

mod interrupts;
mod limits;
mod loaded;
mod memory;
