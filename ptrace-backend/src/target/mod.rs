//! Getting a process to `main`, and copies of it.

pub(crate) mod auxv;
pub(crate) mod cancellation;
pub(crate) mod client;
pub(crate) mod exit_handlers;
pub(crate) mod inject;
pub(crate) mod loading;
pub(crate) mod modules;
pub(crate) mod origin;
pub(crate) mod recipe;
pub(crate) mod specials;
pub(crate) mod startup;
pub(crate) mod streams;
pub(crate) mod template;
