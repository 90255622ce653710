//! From a target to the result of its exploration: looking at its folder, building, running, on a machine that permits it.

pub(crate) mod build;
pub(crate) mod compile_errors;
pub(crate) mod exploration;
pub(crate) mod folder;
pub(crate) mod job;
pub(crate) mod key;
pub(crate) mod machine;
