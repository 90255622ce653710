//! The search loop: owns budget, progress, cancellation, counting, epochs and findings; knows no strategy by name.

mod always_fails;
mod audit;
mod carried_over;
mod cut_short;
mod determinism;
mod driver;
mod executor;
mod identity;
mod late_joins;
mod narrow;
mod note;
mod only_synchronisation;
mod options;
mod outcome;
mod plan;
mod replay;
mod reproduction;
mod sample;
mod shown;
mod speculation;
#[cfg(test)]
pub(crate) mod tests;
mod workers;

pub use self::driver::{Observer, explore, explore_with};
pub use self::identity::Identity;
pub use self::note::SearchNote;
pub use self::options::Options;
pub use self::outcome::{Ended, Finding, Outcome, Progress, Stats};
pub use self::replay::{Replayed, replay};
pub use self::sample::sample;
pub use self::workers::{Alone, Desk, Done, Job, Paper, Workers};
pub use crate::execution::{Exceeded, SearchError};
pub use crate::limit::Go;
