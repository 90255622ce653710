//! Blocks of the heap: what they are called, and which of them live.

pub(crate) mod block_names;
pub(crate) mod early_blocks;
pub(crate) mod heap;
pub(crate) mod quarantine;
