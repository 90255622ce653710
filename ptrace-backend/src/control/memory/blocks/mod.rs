//! Blocks of the heap: their names, and those of them that live.

pub(crate) mod block_names;
pub(crate) mod early_blocks;
pub(crate) mod heap;
pub(crate) mod quarantine;
