//! The debug adapter: a saved schedule as a debug session that steps both ways. See `docs/protocol.md`.
//!
//! ```
//! use serde_json::json;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut input = Vec::new();
//! let arguments = json!({ "adapterID": "interleaver" });
//! let request = json!({ "seq": 1, "type": "request", "command": "initialize", "arguments": arguments });
//! dap::write(&mut input, &request)?;
//! let mut output = Vec::new();
//! dap::serve_over(std::io::Cursor::new(input), &mut output);
//! let answer = dap::read(&mut output.as_slice())?.ok_or("no answer")?;
//! assert_eq!(answer["body"]["supportsStepBack"], true);
//! # Ok(())
//! # }
//! ```

#![warn(clippy::unwrap_used)]
#![forbid(unsafe_code)]

mod adapter;
mod client;
mod client_events;
mod framing;
mod handlers;
mod handles;
mod output;
mod protocol;
mod request;
mod server;

pub use framing::{FramingError, read, write};
pub use server::{serve, serve_over, serve_port};
