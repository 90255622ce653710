//! Discovery: targets of a workspace that can be explored, found without executing or building anything.
//!
//! A [`Workspace`] knows the executables below its root by what their debug information says: the sources that their line
//! tables list, `main`, and the tests in them. [`Workspace::targets_of_file`] is what an editor shows above a file's
//! lines; [`Workspace::why_not`] says in a sentence why something is not shown.

mod build_step;
mod candidate;
mod cargo;
mod ctest;
mod functions;
mod kind;
mod mentions;
mod paths;
mod presets;
mod source_line;
mod target;
mod targets;
mod test;
mod threads;
mod views;
mod walk;
mod workspace;
mod written;

pub use build_step::BuildStep;
pub use candidate::Candidate;
pub use kind::{CargoKind, CargoTarget, Kind};
pub use source_line::SourceLine;
pub use target::{Explorability, Target, TargetAt};
pub use test::{Framework, Test};
pub(crate) use threads::uses_openmp;
pub use views::{ListedExecutable, Listing, ProgramIdentity, identify};
pub use walk::Limits;
pub use workspace::Workspace;
pub use written::TextLanguage;
