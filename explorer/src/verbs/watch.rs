//! View of a front end on a search under way.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use checker::search::{self, Observer};
use serde::{Deserialize, Serialize};

use crate::report::Finding;

/// Progress of a search.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Progress {
    /// Executions of the search so far.
    pub schedules: u64,
    /// Executions per second so far.
    pub schedules_per_second: f64,
    /// The bound that is being explored, if the search has one.
    pub bound: Option<u32>,
    /// Distinct failures so far.
    pub findings: usize,
}

/// Shows progress to the user of a front end.
pub trait Watch {
    /// Called after every execution.
    fn progress(&mut self, progress: &Progress);

    /// Called as soon as a failure has been reproduced and its schedule saved; again when a schedule with fewer
    /// preemptions shows the same failure.
    fn finding(&mut self, _: &Finding) {}
}

/// A search without a front end.
pub struct Unwatched;

impl Watch for Unwatched {
    fn progress(&mut self, _: &Progress) {}
}

/// Joins what the checker tells its owner: progress, and what was found.
pub(crate) struct SearchObserver<'a> {
    pub(crate) started: Instant,
    pub(crate) watch: &'a mut dyn Watch,
    pub(crate) keep: SaveFinding<'a>,
    /// Set where the search has seen something that is to be judged after it.
    pub(crate) is_to_judge: &'a AtomicBool,
}

/// Saves what was found, and gives the report on it.
pub(crate) type SaveFinding<'a> = &'a mut dyn FnMut(&search::Finding) -> Finding;

impl Observer for SearchObserver<'_> {
    fn found(&mut self, found: &search::Finding) {
        let told = (self.keep)(found);
        self.watch.finding(&told);
    }

    fn progress(&mut self, progress: &search::Progress) {
        self.is_to_judge.store(progress.is_to_confirm, Ordering::Relaxed);
        let seconds = self.started.elapsed().as_secs_f64();
        self.watch.progress(&Progress {
            schedules: progress.schedules,
            schedules_per_second: per_second(progress.schedules, seconds),
            bound: progress.bound,
            findings: progress.findings,
        });
    }
}

/// A rate that is a number even where no time has passed.
pub(crate) fn per_second(count: u64, seconds: f64) -> f64 {
    if seconds > 0.0 { count as f64 / seconds } else { 0.0 }
}
