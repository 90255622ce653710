//! A saved schedule as a debug session: positions, moves both ways, stacks. No type of a protocol is in here.
//!
//! What happened comes from a recording, made by running the schedule once: events, threads, why they changed. What a stack
//! or a variable looks like comes from a copy of the program that is run up to the same place again.

mod debuggee;
mod error;
mod moves;
mod position;
mod recording;
mod replica;
mod session;
mod stack;
mod stop;
mod tape;

pub use error::DebugError;
pub use moves::Direction;
pub use session::{Opening, Request, Session};
pub use stack::StackLine;
pub use stop::{Cause, NextEvent, Standing, Stop, ThreadLine, Written};
