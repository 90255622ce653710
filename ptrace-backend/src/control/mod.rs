//! Controlling one copy of the target: its threads, its synchronisation, its memory, one thread at a time.

mod account;
pub(crate) mod harness;
pub(crate) mod kernel;
pub(crate) mod knowledge;
pub(crate) mod loops;
pub(crate) mod memory;
pub(crate) mod process;
pub(crate) mod state;
mod step;
pub(crate) mod sync;
pub(crate) mod tracee;
mod views;
pub(crate) mod watchdog;
