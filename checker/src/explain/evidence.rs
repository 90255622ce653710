//! Executions to compare: those next to the failing one, and a random sample.
//!
//! The nearest ones are what single changes to the failing schedule lead to. The sample keeps what happens to be near from
//! looking like the cause. Each happens-before class counts once.

use rustc_hash::FxHashSet;

use super::experiment::{Experiment, Experimenter, Halt};
use super::plan::Plan;
use super::reductions::changes;
use crate::program::Program;
use crate::strategy::{Random, Sample, SeededRng};
use crate::trace::Trace;

/// The number of executions near the failing one, and of random ones.
const NEAR: u64 = 300;
const RANDOM: u64 = 100;

/// All traces together have at most this many events, some 130 bytes each.
const EVENTS: usize = 1_000_000;

/// The executions that the failing one is compared with.
#[derive(Debug, Default)]
pub(super) struct Evidence {
    /// Other executions with the same failure.
    pub(super) failing: Vec<Trace>,
    /// Executions that ended well, the nearest first.
    pub(super) passing: Vec<Trace>,
    seen: FxHashSet<u128>,
    events: usize,
}

impl Evidence {
    /// Runs what lies near a failing execution, and a random sample of the seed.
    pub(super) fn collect<P: Program>(
        experimenter: &mut Experimenter<'_, P>,
        simplest: &Experiment,
        seed: u64,
    ) -> Result<Self, Halt> {
        let mut evidence = Self::default();
        evidence.seen.insert(simplest.trace.hb.state().0);
        experimenter.allow(NEAR);
        for change in changes(&Plan::of(&simplest.trace.steps[..simplest.point])) {
            match experimenter.follow(&change) {
                Ok(experiment) => evidence.add(experiment),
                Err(Halt::Spent) => break,
                Err(halt) => return Err(halt),
            }
        }
        experimenter.allow(RANDOM);
        for number in 0..RANDOM {
            match experimenter.run(&[], &mut *Random.guide(SeededRng::new(seed, number))) {
                Ok(experiment) => evidence.add(experiment),
                Err(Halt::Spent) => break,
                Err(halt) => return Err(halt),
            }
        }
        Ok(evidence)
    }

    fn add(&mut self, experiment: Experiment) {
        let Experiment { trace, failure, passes, .. } = experiment;
        let events = self.events + trace.steps.len();
        if events > EVENTS || (failure.is_none() && !passes) || !self.seen.insert(trace.hb.state().0) {
            return;
        }
        self.events = events;
        if passes { self.passing.push(trace) } else { self.failing.push(trace) }
    }
}
