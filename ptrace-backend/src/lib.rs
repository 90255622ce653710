//! A real Linux process as a program that the checker can drive.
//!
//! [`PtraceProgram`] launches an ordinary executable under ptrace and implements [`checker::program::Program`].

#![warn(clippy::unwrap_used)]

mod answers;
pub mod attention;
mod control;
pub mod debuginfo;
mod detours;
pub mod doctor;
mod execution;
mod grace;
mod inspect;
pub mod instructions;
mod launch;
mod layout;
mod libraries;
mod os;
pub mod preflight;
mod program;
pub mod resources;
mod spec;
mod stalls;
mod target;
mod traps;
mod watched_code;

pub use control::knowledge::lessons::{Known, Learnt};
pub use execution::PtraceExecution;
pub use inspect::{Halt, Inspection};
pub use program::{PtraceProgram, Restriction};
pub use spec::{ClientSpec, LaunchError, LaunchSpec, Ready, Stepping};
pub use stalls::Stalls;
