//! A saved schedule as a debug session: positions, moves both ways, stacks. No type of a protocol is in here.
//!
//! What happened comes from a recording, made by running the schedule once: events, threads, why they changed. What a stack
//! or a variable looks like comes from a copy of the program that is run up to the same place again.

mod archive;
mod back;
mod breakpoints;
mod code;
mod condition;
mod debuggee;
mod ending;
mod error;
mod hit_count;
mod log_message;
mod moves;
mod opening;
mod passed;
mod passing;
mod position;
mod recording;
mod replica;
mod running;
mod scan;
mod session;
mod stack;
mod stepping;
mod stop;
mod tape;
mod texts;

pub use breakpoints::{SetBreakpoint, WantedBreakpoint};
pub use error::DebugError;
pub use moves::Direction;
pub use ptrace_backend::debuginfo::inspect::{FrameId, Handle, Scope, ScopeKind, Variable};
pub use running::Filters;
pub use session::{Controls, Move, Opening, Request, Session};
pub use stack::StackLine;
pub use stepping::Step;
pub use stop::{Cause, NextEvent, Standing, Stop, ThreadLine, Written};
