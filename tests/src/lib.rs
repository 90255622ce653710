//! Support for end-to-end tests: the bundled target programs, built; the tool, built and run; the results expected of
//! both.

mod adapter;
mod build;
mod cause;
pub mod editor;
pub mod elf;
pub mod foreign;
mod found;
mod manifest;
mod outcome;
mod paths;
mod processes;
mod project;
mod rename;
mod sample;
mod tool;

pub use adapter::{Adapter, Server};
pub use build::{Build, BuildError, Optimisation, stepper};
pub use cause::{tells_pattern, told_pattern};
pub use found::Found;
pub use manifest::{Cause, Expectation, Language, Manifest, ManifestError, Target};
pub use outcome::Outcome;
pub use paths::{targets, workspace};
pub use processes::running;
pub use project::Project;
pub use rename::Renamed;
pub use sample::{is_full, is_sampled, levels, sample};
pub use tool::{Tool, ToolError, WATCHDOG, binary};
