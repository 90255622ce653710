//! Bytes of named memory: sets of them, and something about each of them.

pub mod byte_set;
pub(crate) mod interval_map;
