//! Entries of functions, types and variables, found by name and address and followed from one to another.

pub(crate) mod allocation_type;
pub(crate) mod blocks;
pub(crate) mod entry;
pub(crate) mod globals;
pub(crate) mod index;
pub(crate) mod info;
pub(crate) mod names;
pub(crate) mod read_shape;
pub(crate) mod shape;
pub(crate) mod unit_index;
