//! The executor: runs the executions of a search, counts them, and knows what the last one was.

use super::findings::identity::Identity;
use super::irreproducible::Irreproducible;
use super::options::Options;
use super::outcome::Stats;
use crate::event::agent::Choice;
use crate::event::failure::Failure;
use crate::event::names::ThreadName;
use crate::event::step::OpKey;
use crate::execution::{Limits, RunOutcome, Runner, SearchError};
use crate::limit::StopRequest;
use crate::program::{Epoch, Program, Scope};
use crate::strategy::{DefaultSchedule, Guide};

/// The means by which every part of a search runs executions.
pub(super) struct Executor<'a, P> {
    pub(super) options: &'a Options,
    pub(super) runner: Runner<'a, P>,
    pub(super) stats: Stats,
    /// The key points that the search goes by.
    pub(super) epoch: Epoch,
    /// The execution that ran last had few variables' accesses as key points.
    pub(super) is_narrow: bool,
    /// Everything that may be a key point was watched in the execution that ran last.
    pub(super) is_checked: bool,
    /// The failures that were seen, each with the number of executions that had been started by the first that showed it.
    pub(super) seen: Vec<(Identity, u64)>,
    /// Failures that did not come again.
    pub(super) irreproducible: Vec<Irreproducible>,
    /// Something ran beside the schedule in an execution ([`ExecutionSummary::has_unscheduled`]).
    ///
    /// [`ExecutionSummary::has_unscheduled`]: crate::program::ExecutionSummary::has_unscheduled
    pub(super) has_unscheduled: bool,
}

impl<'a, P: Program> Executor<'a, P> {
    pub(super) fn new(program: &'a P, options: &'a Options) -> Self {
        Self {
            options,
            runner: Runner::new(program, Limits::of(options)),
            stats: Stats::default(),
            epoch: Epoch::default(),
            is_narrow: false,
            is_checked: false,
            seen: Vec::new(),
            irreproducible: Vec::new(),
            has_unscheduled: false,
        }
    }

    /// Whether key points were added that the search does not go by yet.
    pub(super) fn is_outdated(&self) -> bool {
        self.runner.program.epoch() != self.epoch
    }

    /// Runs one execution within the limit on the search.
    pub(super) fn run(
        &mut self,
        scope: &Scope,
        prefix: &[(Choice, OpKey)],
        guide: &mut dyn Guide,
    ) -> Result<RunOutcome, SearchError> {
        let limit = &self.options.limit;
        let end = self.runner.run_within(scope, prefix, guide, &mut || limit.look());
        self.has_unscheduled |= self.runner.summary.has_unscheduled();
        end
    }

    /// The same of an execution that is no part of the search.
    pub(super) fn run_aside(
        &mut self,
        scope: &Scope,
        prefix: &[(Choice, OpKey)],
        guide: &mut dyn Guide,
    ) -> Result<RunOutcome, SearchError> {
        self.stats.other += 1;
        self.run(scope, prefix, guide)
    }

    /// Runs a schedule once more, which only the user ends: the time for the search being up does not.
    pub(super) fn run_to_its_end(&mut self, schedule: &[(Choice, OpKey)]) -> Result<RunOutcome, SearchError> {
        self.stats.other += 1;
        let limit = &self.options.limit;
        let mut go = || match limit.look() {
            StopRequest::Cancelled => StopRequest::Cancelled,
            StopRequest::BudgetSpent | StopRequest::HalfSpent | StopRequest::Continue => {
                StopRequest::Continue
            }
        };
        self.runner.run(schedule, &mut DefaultSchedule, &mut go)
    }

    /// Keeps in mind which failures the execution that has just ended was the first to show.
    pub(super) fn note_seen(&mut self, failures: &[Failure]) {
        let started = self.stats.executions() + self.stats.other + self.runner.attribution_runs;
        for identity in failures.iter().map(Identity::of) {
            if self.seen.iter().all(|(seen, _)| *seen != identity) {
                self.seen.push((identity, started));
            }
        }
    }

    /// Counts the events and the threads of the execution that ran last.
    pub(super) fn count_events(&mut self) {
        let events = self.runner.trace.steps.len() as u64;
        *(if self.is_narrow { &mut self.stats.narrow_events } else { &mut self.stats.events }) += events;
        let is_thread = |thread: &&ThreadName| !thread.is_timer() && !thread.is_client();
        let threads = self.runner.trace.threads.iter().filter(is_thread).count();
        self.stats.threads = self.stats.threads.max(threads);
    }

    /// Starts to count anew, by the key points that there are now.
    pub(super) fn restart(&mut self) {
        let Stats { other, before_restart, threads, awaits_outside, .. } = self.stats;
        let before_restart = before_restart + self.stats.executions_now();
        self.stats = Stats { other, before_restart, threads, awaits_outside, ..Stats::default() };
        self.epoch = self.runner.program.epoch();
        self.runner.to_audit.clear();
    }
}
