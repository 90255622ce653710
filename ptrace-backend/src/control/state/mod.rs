//! Plain data about one copy of the target.

pub(crate) mod account;
pub(crate) mod client;
pub(crate) mod clock_readings;
pub(crate) mod detouring;
pub(crate) mod flow;
pub(crate) mod lamport_clock;
pub(crate) mod memory;
pub(crate) mod pending;
pub(crate) mod probes;
pub(crate) mod scheduling;
pub(crate) mod spinning;
pub(crate) mod sync_objects;
pub(crate) mod thread;
pub(crate) mod thread_index;
pub(crate) mod time_slice;
pub(crate) mod timers;
