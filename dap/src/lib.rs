//! The debug adapter: a saved schedule as a debug session that steps both ways. See `docs/protocol.md`.

#![forbid(unsafe_code)]

mod framing;

pub use framing::{FramingError, read, write};
