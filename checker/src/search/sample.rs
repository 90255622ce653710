//! Executions of a strategy, one after another: for statistics, where no findings are looked for.

use crate::cache::Cache;
use crate::event::failure::Failure;
use crate::execution::{Limits, RunOutcome, Runner, SearchError};
use crate::limit::StopRequest;
use crate::program::Program;
use crate::strategy::{Next, Strategy};
use crate::trace::Trace;

/// Runs up to `runs` executions of at most `step_limit` events, and hands each one that ended on, with what it showed. Returns
/// the number that it ran; fewer than `runs` only if the strategy has no more. The knowledge from before key points were added
/// is forgotten, as in a search.
///
/// # Errors
/// When the program cannot be run.
pub fn sample<P: Program>(
    program: &P,
    strategy: &mut dyn Strategy,
    runs: u64,
    step_limit: u32,
    seen: &mut dyn FnMut(&Trace, &[Failure]),
) -> Result<u64, SearchError> {
    let cache = Cache::new(None);
    let limits = Limits::of_events(step_limit);
    let mut runner = Runner::new(program, limits);
    for run in 0..runs {
        let Next::Work(item) = strategy.next(&cache) else { return Ok(run) };
        let mut guide = strategy.guide(&item, &cache);
        let end = runner.run(&item.prefix, &mut *guide, &mut || StopRequest::Continue)?;
        let notes = guide.notes();
        match end {
            RunOutcome::Completed(failures) => seen(&runner.trace, &failures),
            RunOutcome::Promoted(_) => {
                strategy.reset(program.epoch());
                continue;
            }
            RunOutcome::Pruned | RunOutcome::LimitExceeded(..) | RunOutcome::Stopped(_) => {}
        }
        strategy.learn(&item, &runner.trace, notes, &cache);
    }
    Ok(runs)
}
