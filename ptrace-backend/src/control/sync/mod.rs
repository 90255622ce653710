//! Synchronisation: objects, the functions that work on them, and the ends of waits.

pub(crate) mod calls;
pub(crate) mod cancellation;
pub(crate) mod condvars_barriers;
pub(crate) mod entry;
pub(crate) mod futexes;
pub(crate) mod held_objects;
pub(crate) mod lifetimes;
pub(crate) mod queues;
pub(crate) mod robust_mutexes;
pub(crate) mod rust_condvars;
pub(crate) mod rwlocks;
pub(crate) mod stream_locks;
pub(crate) mod thread_end;
pub(crate) mod time_limits;
pub(crate) mod wake_op;
