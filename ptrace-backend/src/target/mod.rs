//! Getting a process to `main`, and copies of it.

pub(crate) mod auxv;
pub(crate) mod modules;
pub(crate) mod startup;
pub(crate) mod streams;
pub(crate) mod template;
