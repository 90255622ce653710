//! Signals of the program. The kernel keeps and delivers them; when a thread gets one, and what that means for it, depends on the
//! signals that it has, blocks, ignores and catches ([`state`]).

pub(crate) mod fatal;
pub(crate) mod files;
pub(crate) mod interrupted_waits;
pub(crate) mod state;
pub(crate) mod waits;
