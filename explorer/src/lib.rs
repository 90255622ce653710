//! The product's verbs: explore, replay, report. Plain data in and out: front ends translate it.

#![warn(clippy::unwrap_used)]
#![forbid(unsafe_code)]

pub mod config;
pub mod debug;
pub mod discover;
mod error;
pub mod input;
#[cfg(test)]
mod model_tests;
pub mod narrate;
pub mod program;
pub mod render;
pub mod report;
pub mod say;
pub mod schedule_file;
mod shell;
pub mod shown;
pub mod store;
pub mod trust;
pub mod verbs;

pub use error::Error;
pub use ptrace_backend::resources;
pub use verbs::explore::explore;
pub use verbs::minimise::minimise;
pub use verbs::replay::replay;
pub use verbs::search::json;
pub use verbs::show::{graph_json, show};
