//! Controlling one copy of the target: its threads, its synchronisation, its memory, one thread at a time.

pub(crate) mod client;
mod client_steps;
pub(crate) mod enabled;
pub(crate) mod expiry;
pub(crate) mod harness;
mod interruption;
pub(crate) mod kernel;
pub(crate) mod knowledge;
pub(crate) mod loops;
pub(crate) mod memory;
pub(crate) mod operations;
pub(crate) mod process;
pub(crate) mod readiness;
pub(crate) mod run;
pub(crate) mod state;
pub(crate) mod step;
pub(crate) mod sync;
pub(crate) mod tracee;
pub(crate) mod views;
pub(crate) mod watchdog;
