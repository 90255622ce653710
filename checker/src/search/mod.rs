//! The search loop: owns budget, progress, cancellation, counting, epochs and findings; knows no strategy by name.

mod carried_over;
mod cut_short;
mod driver;
mod executor;
mod explore;
mod findings;
mod irreproducible;
mod note;
mod observer;
mod options;
mod outcome;
mod parallel;
mod plan;
mod questions;
mod replay;
mod sample;
#[cfg(test)]
pub(crate) mod tests;

pub use self::explore::{explore, explore_by, explore_with};
pub use self::findings::identity::Identity;
pub use self::note::SearchNote;
pub use self::observer::{Observer, SilentObserver};
pub use self::options::Options;
pub use self::outcome::{AlwaysFailsEvidence, Finding, Progress, SearchEnd, SearchOutcome, Stats};
pub use self::parallel::workers::{Job, JobOutcome, NoWorkers, TraceBuffer, WorkerContext, Workers};
pub use self::replay::{Replayed, replay};
pub use self::sample::sample;
pub use crate::execution::{Exceeded, SearchError};
pub use crate::limit::StopRequest;
