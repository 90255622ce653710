//! One execution: its runner, which drives it from its start to its end, and its outcome.

mod error;
mod idle;
mod limits;
mod outcome;
mod runner;

pub use self::error::SearchError;
pub(crate) use self::limits::{Limits, OnlyAt};
pub use self::outcome::Exceeded;
pub(crate) use self::outcome::{RunOutcome, TerminationPoint, ends_differ};
pub(crate) use self::runner::Runner;
