//! Does the program fail whatever the schedule? Then no order of its threads is to blame: it may well be that they always come to
//! wait for each other.

use super::failing_execution::FailingExecution;
use super::identity::Identity;
use crate::cache::{Cache, SubsumptionRule};
use crate::execution::{RunOutcome, SearchError};
use crate::program::{Program, Scope};
use crate::search::executor::Executor;
use crate::search::outcome::AlwaysFailsEvidence;
use crate::strategy::{Frontier, Next, Preemptions, Random, Sampler, Strategy, Unbounded};

/// The number of random schedules that must fail too.
const RANDOM: u64 = 100;

/// At most this many schedules without preemptions are run to find one that passes.
const FREE: u64 = 1000;

/// At most this many are run to have run them all, and no more once they have this many events together.
const ALL: u64 = 300;
const EVENTS: usize = 20_000;

/// The claim that this failure comes always, if it comes before a second thread exists, or in every schedule without
/// preemptions (or [`FREE`] of them) and in [`RANDOM`] random ones, and none of them left out what comes of a thread's going
/// on. If there are few schedules in all, they are all run. `suspected` says that no execution so far did anything else.
pub(in crate::search) fn always<P: Program>(
    executor: &mut Executor<'_, P>,
    shown: &FailingExecution<'_>,
    identity: &Identity,
    suspected: bool,
) -> Result<Option<AlwaysFailsEvidence>, SearchError> {
    // Endless executions are a kind of their own, and each one takes its time.
    if shown.limit {
        return Ok(None);
    }
    if shown.trace.threads.len() == 1 {
        return Ok(Some(AlwaysFailsEvidence { schedules: 1, is_every: true }));
    }
    if !suspected {
        return Ok(None);
    }
    let free = || Box::new(Frontier::new(Preemptions { max: 0 })) as Box<dyn Strategy>;
    let rule = Some(SubsumptionRule::Preemptions).filter(|_| executor.options.cache);
    let seed = executor.options.seed;
    let random = || Box::new(Sampler::new(Random, seed)) as Box<dyn Strategy>;
    let unbounded = || Box::new(Frontier::new(Unbounded)) as Box<dyn Strategy>;
    // Most programs pass where every thread runs to its end.
    let stages: [(&dyn Fn() -> Box<dyn Strategy>, _, _); 4] = [
        (&free, rule, (1, usize::MAX)),
        (&random, None, (RANDOM, usize::MAX)),
        (&free, rule, (FREE, usize::MAX)),
        (&unbounded, rule, (ALL, EVENTS)),
    ];
    let mut schedules = 1;
    for (strategy, rule, most) in stages {
        loop {
            let mut strategy = strategy();
            match all_fail(executor, &mut *strategy, rule, most, identity)? {
                Tried::Passed => return Ok(None),
                // The schedules that were run so far did not have them.
                Tried::FoundKeyPoints => {}
                Tried::AllFailed(failed) => {
                    schedules += failed;
                    if strategy.coverage(None).everything {
                        return Ok(Some(AlwaysFailsEvidence { schedules, is_every: true }));
                    }
                    break;
                }
            }
        }
    }
    Ok(Some(AlwaysFailsEvidence { schedules, is_every: false }))
}

/// The result of a number of schedules.
enum Tried {
    /// So many failed, and none did anything else.
    AllFailed(u64),
    /// One did not fail, or not in this way.
    Passed,
    /// In one there were key points that had not been known.
    FoundKeyPoints,
}

/// Runs the schedules of a strategy. `most`: the number of them that are run, and the number of events after which no more are.
fn all_fail<P: Program>(
    executor: &mut Executor<'_, P>,
    strategy: &mut dyn Strategy,
    rule: Option<SubsumptionRule>,
    most: (u64, usize),
    identity: &Identity,
) -> Result<Tried, SearchError> {
    let cache = Cache::new(rule);
    let (mut failed, mut events) = (0, 0);
    for _ in 0..most.0 {
        if events > most.1 {
            break;
        }
        let Next::Work(item) = strategy.next(&cache) else { break };
        let mut guide = strategy.guide(&item, &cache);
        // A claim about every schedule rests on executions in which everything is watched.
        let end = executor.run_aside(&Scope::Audit, &item.prefix, &mut *guide)?;
        let notes = guide.notes();
        match end {
            _ if executor.runner.summary.left_out => return Ok(Tried::Passed),
            RunOutcome::Promoted(_) => return Ok(Tried::FoundKeyPoints),
            RunOutcome::Completed(failures)
                if failures.iter().any(|failure| Identity::of(failure) == *identity)
                    && !executor.runner.termination().failed_late =>
            {
                cache.end(executor.runner.trace.hb.state());
                failed += 1;
            }
            RunOutcome::Pruned => {}
            _ => return Ok(Tried::Passed),
        }
        events += executor.runner.trace.steps.len();
        strategy.learn(&item, &executor.runner.trace, notes, &cache);
    }
    Ok(Tried::AllFailed(failed))
}
