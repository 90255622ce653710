//! Searches on model programs.

mod bounded;
pub(crate) mod brute_force;
mod costs;
mod counts;
mod findings;
mod loops;
mod narrow;
mod portfolio;
pub(crate) mod programs;
mod samplers;
mod workers;

use super::driver::Search;
use super::*;
use crate::model::Model;
use crate::strategy::StrategyKind;

fn model(text: &str) -> Model {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Explores to the end of the bound.
fn all(text: &str, strategy: StrategyKind, bound: u32, cache: bool) -> SearchOutcome {
    let options = Options {
        strategy,
        max_preemptions: bound,
        max_delays: bound,
        max_schedules: None,
        keep_going: true,
        cache,
        ..Options::default()
    };
    explore(&model(text), &options, &mut SilentObserver).unwrap_or_else(|error| panic!("{text}: {error}"))
}
