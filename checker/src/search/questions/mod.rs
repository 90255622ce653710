//! Questions about a program that a search asks along the way, one to a file.

pub(super) mod audit;
pub(super) mod determinism;
pub(super) mod narrow;
pub(super) mod only_synchronisation;
