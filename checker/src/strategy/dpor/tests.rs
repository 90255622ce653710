//! Executions of model programs for tests.

use crate::cache::Cache;
use crate::execution::{Limits, Runner};
use crate::limit::StopRequest;
use crate::model::Model;
use crate::strategy::{Next, Random, ReverseSearch, Sampler, Strategy};
use crate::trace::Trace;

/// An execution by chance.
pub(super) fn random_run(text: &str, seed: u64) -> Trace {
    first_run(text, &mut Sampler::new(Random, seed))
}

/// The canonical execution.
pub(super) fn canonical_run(text: &str) -> Trace {
    first_run(text, &mut ReverseSearch::new())
}

fn first_run(text: &str, strategy: &mut dyn Strategy) -> Trace {
    let model: Model = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
    let (mut runner, cache) = (Runner::new(&model, Limits::of_events(100_000)), Cache::new(None));
    let Next::Work(item) = strategy.next(&cache) else { panic!("{text}: there is no first execution") };
    let mut guide = strategy.guide(&item, &cache);
    runner.run(&item.prefix, &mut *guide, &mut || StopRequest::Continue).unwrap();
    drop(guide);
    std::mem::take(&mut runner.trace)
}
