//! Memory: the parts of it that threads share, the names of its addresses, and its blocks that live.

pub(crate) mod access;
pub(crate) mod atomicity;
pub(crate) mod blocks;
pub(crate) mod detour_traps;
pub(crate) mod event_order;
pub(crate) mod exit_handler_traps;
pub(crate) mod exposure;
pub(crate) mod foreign_calls;
pub(crate) mod hidden;
pub(crate) mod logged_accesses;
pub(crate) mod naming;
pub(crate) mod real_effect;
pub(crate) mod scope;
pub(crate) mod sharing;
pub(crate) mod unwatched_uses;
