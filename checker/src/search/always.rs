//! Does the program fail whatever the schedule? Then no order of its threads is to blame: it may well be that they always come to
//! wait for each other.

use super::{Identity, Search, Shown};
use crate::cache::{Cache, Rule};
use crate::execution::{End, SearchError};
use crate::program::Program;
use crate::strategy::{Frontier, Next, Preemptions, Random, Sampler, Strategy};

/// How many random schedules must fail too.
const RANDOM: u64 = 100;

/// At most this many schedules without preemptions are run to find one that passes: that so many fail is enough to say
/// that the program always does.
const FREE: u64 = 1000;

impl<P: Program> Search<'_, P> {
    /// Whether this failure comes before a second thread exists, or in every schedule without preemptions (or
    /// [`FREE`] of them) and in [`RANDOM`] random ones, and none of them left out what comes of a thread's going on.
    /// `suspected` says that no execution so far did anything else.
    pub(super) fn is_always(
        &mut self,
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
        let mut random = Sampler::new(Random, self.options.seed);
        if !self.all_fail(&mut random, None, RANDOM, identity)? {
            return Ok(false);
        }
        let rule = Some(Rule::Preemptions).filter(|_| self.options.cache);
        self.all_fail(&mut Frontier::new(Preemptions { max: 0 }), rule, FREE, identity)
    }

    fn all_fail(
        &mut self,
        strategy: &mut dyn Strategy,
        rule: Option<Rule>,
        limit: u64,
        identity: &Identity,
    ) -> Result<bool, SearchError> {
        let cache = Cache::new(rule);
        for done in 0.. {
            let Next::Work(item) = strategy.next(&cache) else { break };
            if done >= limit {
                break;
            }
            self.stats.other += 1;
            let mut guide = strategy.guide(&item, &cache);
            let limit = &self.options.limit;
            let end = self.runner.run(&item.prefix, &mut *guide, &mut || limit.look())?;
            let notes = guide.notes();
            match end {
                _ if self.runner.ending.left_out => return Ok(false),
                End::Ended(failures)
                    if failures.iter().any(|failure| Identity::of(failure) == *identity)
                        && !self.runner.over().failed_late =>
                {
                    cache.end(self.runner.trace.hb.state());
                }
                End::Cut => {}
                _ => return Ok(false),
            }
            strategy.learn(&item, &self.runner.trace, notes, &cache);
        }
        Ok(true)
    }
}
