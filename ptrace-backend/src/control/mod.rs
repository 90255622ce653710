//! Controlling one copy of the target: its threads, its synchronisation, its memory, one thread at a time.

mod account;
pub(crate) mod harness;
mod hearing;
mod injected_calls;
pub(crate) mod kernel;
pub(crate) mod knowledge;
pub(crate) mod loops;
mod machine;
pub(crate) mod memory;
mod probes;
pub(crate) mod process;
pub(crate) mod state;
mod step;
pub(crate) mod sync;
mod views;
pub(crate) mod watchdog;
