//! The product's verbs: explore, replay, report. Plain data in and out: front ends translate it.
//!
//! ```no_run
//! use explorer::input::request::Request;
//! use explorer::verbs::watch::Unwatched;
//! use std::sync::{Arc, atomic::AtomicBool};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! explorer::resources::prepare()?;
//! let request = Request { max_schedules: 1_000, ..Request::new("build/counter".into()) };
//! let report = explorer::explore(&request, &Arc::new(AtomicBool::new(false)), &mut Unwatched)?;
//! for finding in &report.findings {
//!     println!("{}: {}", finding.place.words(), finding.message);
//! }
//! print!("{}", explorer::render::render(&report));
//! # Ok(())
//! # }
//! ```

#![warn(clippy::unwrap_used)]
#![forbid(unsafe_code)]

pub mod config;
pub mod debug;
pub mod discover;
mod error;
pub mod escaping;
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
