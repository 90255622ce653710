//! A saved schedule as a debug session: positions, moves both ways, stacks. No type of a protocol is in here.
//!
//! The past comes from a recording, made by running the schedule once: events, threads, the reasons of switches. The look
//! of a stack or a variable comes from a copy of the program that is run up to the same place again.

mod breakpoints;
mod debuggee;
mod error;
mod live;
mod moves;
mod opening;
mod recording;
mod replay_position;
mod request;
mod session;
mod stop;

pub use breakpoints::{SetBreakpoint, WantedBreakpoint};
pub use error::DebugError;
pub use live::stack::StackLine;
pub use moves::filters::Filters;
pub use ptrace_backend::debuginfo::inspect::{FrameId, Handle, Scope, ScopeKind, Variable};
pub use request::{Controls, Direction, LaunchRequest, Move, Opening, Step};
pub use session::Session;
pub use stop::{Cause, NextEvent, ProgramOutput, StepPosition, Stop, ThreadLine};
