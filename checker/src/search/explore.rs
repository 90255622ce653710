//! The ways to start a search.

use super::driver::Search;
use super::observer::Observer;
use super::options::Options;
use super::outcome::SearchOutcome;
use super::parallel::speculation::SpeculativeRuns;
use super::parallel::workers::{NoWorkers, Workers};
use crate::cache::Cache;
use crate::execution::SearchError;
use crate::program::Program;
use crate::strategy::Strategy;

/// Explores a program.
///
/// # Errors
/// When the program cannot be run, or does not do the same under the same schedule.
pub fn explore<P: Program>(
    program: &P,
    options: &Options,
    observer: &mut dyn Observer,
) -> Result<SearchOutcome, SearchError> {
    explore_with(program, options, Box::new(NoWorkers), observer)
}

/// The same with workers beside the calling thread. Whatever they do, the outcome is the same as without them.
///
/// # Errors
/// When the program cannot be run, or does not do the same under the same schedule.
pub fn explore_with<'a, P: Program>(
    program: &'a P,
    options: &'a Options,
    workers: Box<dyn Workers + 'a>,
    observer: &'a mut dyn Observer,
) -> Result<SearchOutcome, SearchError> {
    let mut search = Search::new(program, options, observer);
    search.speculative = SpeculativeRuns::new(workers);
    search.run().map_err(SearchError::while_searching)
}

/// Explores a program by a planner of the caller's own, in place of the one that [`Options::strategy`] names. There is no cache
/// of states: the states that one may leave out depend on the planner.
///
/// # Errors
/// When the program cannot be run, or does not do the same under the same schedule.
pub fn explore_by<P: Program>(
    program: &P,
    strategy: Box<dyn Strategy>,
    options: &Options,
    observer: &mut dyn Observer,
) -> Result<SearchOutcome, SearchError> {
    let mut search = Search::new(program, options, observer);
    (search.strategy, search.cache) = (strategy, Cache::new(None));
    search.run().map_err(SearchError::while_searching)
}
