//! Getting a process to `main`, and copies of it.

pub(crate) mod auxv;
pub(crate) mod cancellation;
pub(crate) mod client;
pub(crate) mod exit_handlers;
pub(crate) mod fork_server;
pub(crate) mod inject;
pub(crate) mod launch_plan;
pub(crate) mod loading;
pub(crate) mod modules;
pub(crate) mod process_source;
pub(crate) mod startup;
pub(crate) mod static_results;
pub(crate) mod streams;
pub(crate) mod trapped_instructions;
