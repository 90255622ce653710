//! The debug adapter: a saved schedule as a debug session that steps both ways. See `docs/protocol.md`.

#![warn(clippy::unwrap_used)]
#![forbid(unsafe_code)]

mod adapter;
mod client;
mod framing;
mod handlers;
mod handles;
mod output;
mod protocol;
mod request;
mod server;
mod told;

pub use framing::{FramingError, read, write};
pub use server::{serve, serve_over, serve_port};
