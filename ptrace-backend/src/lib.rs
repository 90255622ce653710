//! A real Linux process as a program that the checker can drive.
//!
//! [`PtraceProgram`] launches an ordinary executable under ptrace and implements [`checker::program::Program`], so that each
//! search of [`checker::search`] can explore it:
//!
//! ```no_run
//! use std::error::Error;
//!
//! use checker::search::{Observer, Options, Progress, explore};
//! use ptrace_backend::{LaunchSpec, PtraceProgram};
//!
//! /// An observer that prints nothing.
//! struct Quiet;
//!
//! impl Observer for Quiet {
//!     fn progress(&mut self, _: &Progress) {}
//! }
//!
//! fn main() -> Result<(), Box<dyn Error>> {
//!     let spec = LaunchSpec::new("/home/me/bank/transfer".into());
//!     let program = PtraceProgram::launch(spec)?;
//!     // Iterative context bounding: all schedules with up to 2 preemptions, until one fails.
//!     let options = Options { max_preemptions: 2, ..Options::default() };
//!     let outcome = explore(&program, &options, &mut Quiet)?;
//!     match outcome.findings.first() {
//!         Some(finding) => {
//!             println!("a schedule of {} events fails: {:?}", finding.trace.steps.len(), finding.failure.kind);
//!         }
//!         None => println!("none of {} schedules fails", outcome.stats.schedules),
//!     }
//!     Ok(())
//! }
//! ```
//!
//! The thread that launches a program is its tracer: it alone can explore it.

#![warn(clippy::unwrap_used)]

pub mod attention;
mod control;
pub mod debuginfo;
mod detours;
pub mod doctor;
mod error;
mod execution;
mod grace;
mod inspect;
pub mod instructions;
mod launch;
mod layout;
mod libraries;
mod open_code;
mod os;
pub mod preflight;
mod program;
pub mod resources;
mod spec;
mod target;
mod traps;
mod virtual_syscalls;
mod watched_code;

pub use control::knowledge::lessons::{KnowledgeSnapshot, Lessons};
pub use error::{LaunchError, StartupError, SystemAction, SystemError};
pub use execution::PtraceExecution;
pub use inspect::{Halt, Inspection};
pub use program::{PtraceProgram, Restriction};
pub use spec::stalls::Stalls;
pub use spec::{ClientSpec, LaunchSpec, Opening, Ready, Stepping};
