//! Controlling one copy of the target: its threads, its synchronisation, its memory, one thread at a time.

mod access;
pub(crate) mod atomicity;
mod bystanders;
mod calls;
mod enter;
mod files;
pub(crate) mod functions;
mod futexes;
pub(crate) mod harness;
pub(crate) mod heap;
pub(crate) mod knowledge;
pub(crate) mod memory_calls;
pub(crate) mod naming;
mod needs;
mod perform;
mod probes;
pub(crate) mod process;
mod sharing;
mod signal_waits;
mod signals;
mod spin;
mod state;
mod sync;
mod syscalls;
mod thread;
mod waiting;
pub(crate) mod watch;
