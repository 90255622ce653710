//! A stopped thread: its registers, its frames, and where its variables are.

pub(crate) mod call_sites;
pub(crate) mod frame;
pub(crate) mod stack;
pub(crate) mod state;
pub(crate) mod thread;
pub(crate) mod thread_locals;
pub(crate) mod value_location;
