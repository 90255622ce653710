//! A search with its workers, and what it comes to.

use std::thread;

use checker::program::{ExecutionSummary, Program};
use checker::search::{self, Identity, NoWorkers, Options, SearchEnd, SearchError, SearchOutcome, Workers};

use crate::input::request::{Request, Strategy};
use crate::program::run_notes::Observed;
use crate::program::worker_pool::{Parallelism, Replicable, WorkerPool};
use crate::report::{Covered, Finding};
use crate::verbs::search::session::SearchSession;
use crate::verbs::watch::SearchObserver;

impl SearchSession<'_> {
    /// Runs a search, with workers where the program can be had again; `taken_in` takes in how each execution ended.
    pub(crate) fn search<P: Program>(
        &self,
        program: &Observed<'_, P>,
        workers: Option<&impl Replicable>,
        (options, taken_in): (&Options, &(dyn Fn(&ExecutionSummary) + Sync)),
        observer: &mut SearchObserver<'_>,
    ) -> Result<SearchOutcome, SearchError> {
        thread::scope(|scope| {
            let with_parallelism =
                workers.map(|program| (program, Parallelism::of(self.request.workers, program)));
            let workers: Box<dyn Workers> =
                match with_parallelism.filter(|(_, parallelism)| parallelism.most() > 0) {
                    Some((program, parallelism)) => {
                        Box::new(WorkerPool::new(scope, program, parallelism, (&options.limit, taken_in)))
                    }
                    None => Box::new(NoWorkers),
                };
            search::explore_with(program, options, workers, observer)
        })
    }
}

/// The findings in the order of the search, which puts a better schedule where the first one was.
pub(crate) fn in_order(outcome: &SearchOutcome, mut made: Vec<(Identity, Finding)>) -> Vec<Finding> {
    let position = |identity| outcome.findings.iter().position(|found| found.identity == identity);
    made.sort_by_cached_key(|(identity, _)| position(identity.clone()));
    made.into_iter().map(|(_, finding)| finding).collect()
}

/// Whether the bound that was asked for is covered.
pub(crate) fn is_complete(outcome: &SearchOutcome, request: &Request) -> bool {
    let covered = &outcome.covered;
    let reached = match request.strategy {
        Strategy::Icb | Strategy::BoundedDpor | Strategy::Auto => {
            covered.preemptions.is_some_and(|bound| bound >= request.max_preemptions)
        }
        Strategy::Idb => covered.delays.is_some_and(|bound| bound >= request.max_delays),
        // The restriction to turns is told with the coverage.
        Strategy::Dfs => covered.in_turns_from.is_some(),
        _ => false,
    };
    outcome.ended == SearchEnd::Covered && (reached || covered.everything)
}

impl From<checker::strategy::Coverage> for Covered {
    fn from(coverage: checker::strategy::Coverage) -> Self {
        let in_turns_of = coverage.in_turns_from.map(|_| Options::default().max_yields);
        let checker::strategy::Coverage { preemptions, delays, everything, .. } = coverage;
        Self {
            preemptions,
            delays,
            everything,
            in_turns_of,
            max_stall_ns: None,
            memory_model: None,
            assumes: Vec::new(),
        }
    }
}
