//! The debug adapter: a saved schedule as a debug session that steps both ways. See `docs/protocol.md`.

#![warn(clippy::unwrap_used)]
#![forbid(unsafe_code)]

mod adapter;
mod breakpoints;
mod client;
mod framing;
mod launching;
mod looking;
mod moving;
mod output;
mod protocol;
mod server;
mod sources;
mod variables;

pub use framing::{FramingError, read, write};
pub use server::{serve, serve_over, serve_port};
