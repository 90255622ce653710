//! The debug adapter: a saved schedule as a debug session that steps both ways. See `docs/protocol.md`.

#![warn(clippy::unwrap_used)]
#![forbid(unsafe_code)]

mod adapter;
mod breakpoints;
mod client;
mod framing;
mod handles;
mod launching;
mod output;
mod protocol;
mod request;
mod server;
mod sources;
mod stack_trace;
mod stepping;
mod told;
mod variables;

pub use framing::{FramingError, read, write};
pub use server::{serve, serve_over, serve_port};
