//! Signals of the program. The kernel keeps and delivers them; the time at which a thread gets one, and the meaning of it for
//! the thread, depend on the signals that it has, blocks, ignores and catches ([`state`]).

pub(crate) mod fatal;
pub(crate) mod files;
pub(crate) mod interrupted_waits;
pub(crate) mod state;
pub(crate) mod waits;
