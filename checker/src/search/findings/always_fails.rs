//! Does the program fail whatever the schedule? Then no order of its threads is to blame: it may well be that they always come to
//! wait for each other.

use super::identity::Identity;
use super::shown::Shown;
use crate::cache::{Cache, SubsumptionRule};
use crate::execution::{End, SearchError};
use crate::program::{Program, Scope};
use crate::search::executor::Executor;
use crate::strategy::{Frontier, Next, Preemptions, Random, Sampler, Strategy};

/// How many random schedules must fail too.
const RANDOM: u64 = 100;

/// At most this many schedules without preemptions are run to find one that passes: that so many fail is enough to say
/// that the program always does.
const FREE: u64 = 1000;

/// Whether this failure comes before a second thread exists, or in every schedule without preemptions (or
/// [`FREE`] of them) and in [`RANDOM`] random ones, and none of them left out what comes of a thread's going on.
/// `suspected` says that no execution so far did anything else.
pub(in crate::search) fn is_always<P: Program>(
    executor: &mut Executor<'_, P>,
    shown: &Shown<'_>,
    identity: &Identity,
    suspected: bool,
) -> Result<bool, SearchError> {
    // Endless executions are a kind of their own, and each one takes its time.
    if shown.limit {
        return Ok(false);
    }
    if shown.trace.threads.len() == 1 {
        return Ok(true);
    }
    if !suspected {
        return Ok(false);
    }
    let mut random = Sampler::new(Random, executor.options.seed);
    if !all_fail(executor, &mut random, None, RANDOM, identity)? {
        return Ok(false);
    }
    let rule = Some(SubsumptionRule::Preemptions).filter(|_| executor.options.cache);
    all_fail(executor, &mut Frontier::new(Preemptions { max: 0 }), rule, FREE, identity)
}

fn all_fail<P: Program>(
    executor: &mut Executor<'_, P>,
    strategy: &mut dyn Strategy,
    rule: Option<SubsumptionRule>,
    limit: u64,
    identity: &Identity,
) -> Result<bool, SearchError> {
    let cache = Cache::new(rule);
    for done in 0.. {
        let Next::Work(item) = strategy.next(&cache) else { break };
        if done >= limit {
            break;
        }
        let mut guide = strategy.guide(&item, &cache);
        let end = executor.run_aside(&Scope::All, &item.prefix, &mut *guide)?;
        let notes = guide.notes();
        match end {
            _ if executor.runner.ending.left_out => return Ok(false),
            End::Ended(failures)
                if failures.iter().any(|failure| Identity::of(failure) == *identity)
                    && !executor.runner.over().failed_late =>
            {
                cache.end(executor.runner.trace.hb.state());
            }
            End::Cut => {}
            _ => return Ok(false),
        }
        strategy.learn(&item, &executor.runner.trace, notes, &cache);
    }
    Ok(true)
}
