//! The loop over executions: takes items from the strategy, runs them, and reports what they show.

use std::mem;

use super::carried_over::{CarriedOver, Rerun};
use super::cut_short;
use super::executor::Executor;
use super::findings::always_fails::always;
use super::findings::failing_execution::FailingExecution;
use super::findings::identity::Identity;
use super::findings::late_joins::with_late_joins;
use super::findings::reproduction::{REPLAYS, Reproduction, reproduce};
use super::irreproducible::Irreproducible;
use super::note::SearchNote;
use super::observer::Observer;
use super::options::Options;
use super::outcome::{AlwaysFailsEvidence, Finding, Progress, SearchEnd, SearchOutcome};
use super::parallel::speculation::SpeculativeRuns;
use super::parallel::workers::NoWorkers;
use super::questions::audit::Auditor;
use super::questions::determinism::DeterminismCheck;
use super::questions::narrow;
use super::questions::only_synchronisation::SwitchPoints;
use crate::cache::Cache;
use crate::event::failure::{Failure, FailureKind};
use crate::execution::{RunOutcome, SearchError};
use crate::program::Program;
use crate::strategy::{Coverage, Next, Strategy, WorkItem};
use crate::trace::{Trace, cost};

/// A search under way.
pub(super) struct Search<'a, P> {
    pub(super) executor: Executor<'a, P>,
    observer: &'a mut dyn Observer,
    pub(super) strategy: Box<dyn Strategy>,
    pub(super) cache: Cache,
    /// The executions that run before their turn.
    pub(super) speculative: SpeculativeRuns<'a>,
    pub(super) findings: Vec<Finding>,
    switch_points: SwitchPoints,
    /// The failing execution under which key points were added.
    carried_over: Option<CarriedOver>,
    /// The least cost at which something was left unexplored.
    pub(super) cut: Option<u32>,
    /// The failures that every execution so far has shown; `None` before the first one.
    uniform: Option<Vec<Identity>>,
    notes: Vec<SearchNote>,
    auditor: Auditor,
    check: DeterminismCheck,
}

impl<'a, P: Program> Search<'a, P> {
    pub(super) fn new(program: &'a P, options: &'a Options, observer: &'a mut dyn Observer) -> Self {
        let (strategy, rule) = options.strategy.plan(options);
        Self {
            executor: Executor::new(program, options),
            observer,
            strategy,
            cache: Cache::new(rule.filter(|_| options.cache)),
            speculative: SpeculativeRuns::new(Box::new(NoWorkers)),
            findings: Vec::new(),
            switch_points: SwitchPoints::new(options.only_synchronisation),
            carried_over: None,
            cut: None,
            uniform: None,
            notes: Vec::new(),
            auditor: Auditor::default(),
            check: DeterminismCheck::default(),
        }
    }

    pub(super) fn run(mut self) -> Result<SearchOutcome, SearchError> {
        let ended = match self.check_and_search() {
            Ok(ended) => ended,
            Err(error) if self.is_useless(&error) => return Err(error),
            Err(error) => {
                self.notes.push(SearchNote::StoppedEarly(error.while_searching()));
                SearchEnd::Cancelled
            }
        };
        Ok(self.outcome(ended))
    }

    /// Whether the search ended since one schedule did not do the same twice: which others it would have shown is not known.
    fn is_unrepeatable(&self) -> bool {
        let is_so =
            |note: &SearchNote| matches!(note, SearchNote::StoppedEarly(SearchError::NotDeterministic(_)));
        self.notes.iter().any(is_so)
    }

    fn check_and_search(&mut self) -> Result<SearchEnd, SearchError> {
        let is_due = self.check.is_due(&self.executor, &*self.strategy);
        let checked = if is_due { self.check_determinism()? } else { None };
        self.executor.epoch = self.executor.runner.program.epoch();
        match checked {
            Some(ended) => Ok(ended),
            None => self.search(),
        }
    }

    /// Whether an error leaves nothing to tell. Findings that were reproduced before count all the same; and where something
    /// runs beside the schedule, which the account tells, another execution of one schedule is no fault of the program.
    fn is_useless(&self, error: &SearchError) -> bool {
        let is_difference = matches!(error, SearchError::Diverged(_) | SearchError::NotDeterministic(_));
        self.findings.is_empty() && !(is_difference && self.executor.has_unscheduled)
    }

    fn outcome(mut self, ended: SearchEnd) -> SearchOutcome {
        let irreproducible = std::mem::take(&mut self.executor.irreproducible);
        let is_unrepeatable = self.is_unrepeatable();
        let at_end = |mut covered: Coverage| {
            if is_unrepeatable {
                return Coverage::default();
            }
            covered.everything &= ended == SearchEnd::Covered;
            Irreproducible::covered(&irreproducible, &self.findings, covered)
        };
        let strategy = &*self.strategy;
        let is_too_narrow = self.switch_points.is_too_narrow();
        let covered = at_end(self.switch_points.coverage(strategy, self.cut));
        let at_synchronisation = self.switch_points.at_synchronisation(strategy, self.cut).map(at_end);
        let at_least_cost = strategy.covered_at_least_cost(covered, self.cut);
        for finding in self.findings.iter_mut().filter(|finding| !finding.outdated) {
            finding.fewest &= !is_too_narrow;
            finding.fewest |= is_fewest(finding.preemptions.unwrap_or(u32::MAX), at_least_cost);
        }
        self.switch_points.lock_orders.drop_observed(covered.everything);
        self.notes
            .extend(self.switch_points.notes().chain(Irreproducible::notes(irreproducible, &self.findings)));
        self.notes.extend(strategy.lacks_costs().then_some(SearchNote::UnknownPreemptions));
        self.notes.extend(strategy.has_mispredicted().then_some(SearchNote::Mispredicted));
        let SwitchPoints { races, triangles, torn, lock_orders, .. } = self.switch_points;
        let Self { executor: Executor { stats, .. }, findings, notes, .. } = self;
        let triangles = triangles.observable();
        SearchOutcome {
            stats,
            covered,
            at_synchronisation,
            findings,
            races,
            lock_orders,
            triangles,
            torn,
            ended,
            notes,
        }
    }

    fn check_determinism(&mut self) -> Result<Option<SearchEnd>, SearchError> {
        self.check.check(&mut self.executor, &mut *self.strategy)
    }

    pub(super) fn search(&mut self) -> Result<SearchEnd, SearchError> {
        self.switch_points.apply(&mut self.executor);
        loop {
            if self.executor.is_outdated() || self.switch_points.take_widened() {
                self.restart();
            }
            if let Some(ended) = self.run_carried_over()? {
                return Ok(ended);
            }
            if self.executor.is_outdated() {
                continue;
            }
            let options = self.executor.options;
            if options.limit.is_over() {
                return Ok(SearchEnd::from(options.limit.look()));
            }
            let Some(item) = self.next_item() else {
                if !self.check.is_done() {
                    match self.check_determinism()? {
                        Some(ended) => return Ok(ended),
                        None => continue,
                    }
                }
                match self.auditor.at_the_end(&mut self.executor)? {
                    Some(ended) => return Ok(ended),
                    None if self.executor.is_outdated() => continue,
                    None => return Ok(SearchEnd::Covered),
                }
            };
            if options.max_schedules.is_some_and(|max| self.executor.stats.executions() >= max) {
                return Ok(SearchEnd::Budget);
            }
            let ended = match self.execute(&item)? {
                None => self.auditor.now_and_then(&mut self.executor)?,
                ended => ended,
            };
            if let Some(ended) = ended {
                return Ok(ended);
            }
            let progress = Progress {
                schedules: self.executor.stats.executions(),
                bound: self.strategy.bound(),
                findings: self.findings.len(),
                is_to_confirm: self.switch_points.is_to_confirm(),
            };
            self.observer.progress(&progress);
        }
    }

    /// The next item; none where nothing is left, or something else comes first.
    fn next_item(&mut self) -> Option<WorkItem> {
        if self.check.is_due(&self.executor, &*self.strategy) {
            return None;
        }
        match self.strategy.next(&self.cache) {
            Next::Work(item) => Some(item),
            Next::Wait | Next::Done => None,
        }
    }

    /// Runs one item; says whether the search ends with it.
    fn execute(&mut self, item: &WorkItem) -> Result<Option<SearchEnd>, SearchError> {
        self.speculative.hand_out(&mut *self.strategy, &self.cache, &self.executor);
        self.executor.is_narrow = false;
        let ran = self.speculative.take_over(item, (&mut *self.strategy, &self.cache), &mut self.executor);
        let (end, mut notes) = match ran {
            Some(ran) => ran,
            None => {
                let planned = (&*self.strategy, &self.cache);
                match narrow::run_item(&mut self.executor, item, planned, &mut self.notes) {
                    Err(SearchError::Diverged(_)) if item.is_predicted() => {
                        let notes = cut_short::mispredicted(&mut self.executor);
                        self.strategy.learn(item, &self.executor.runner.trace, notes, &self.cache);
                        return Ok(None);
                    }
                    ran => ran?,
                }
            }
        };
        if !self.executor.is_narrow {
            // An execution that ran ahead teaches only now.
            self.executor.runner.queue_audit(self.executor.is_checked);
        }
        notes.left_out = self.executor.runner.summary.left_out;
        if notes.left_out {
            self.note_cut(item);
        }
        self.check.keep_first_ever(&self.executor);
        let whole = !self.executor.runner.is_capped();
        let mut limit = false;
        // Whether it failed; only for an execution that went to its end and counts.
        let mut failed = None;
        let failures = match end {
            RunOutcome::Stopped(go) => return Ok(Some(cut_short::stopped(&mut self.executor, go))),
            RunOutcome::Promoted(failures) => {
                self.executor.stats.pruned += 1;
                self.carry_over(&failures, item.cost);
                return Ok(None);
            }
            RunOutcome::Pruned => {
                self.executor.stats.pruned += 1;
                Vec::new()
            }
            RunOutcome::Completed(failures) if !self.strategy.is_within(&self.executor.runner.trace) => {
                self.executor.stats.pruned += 1;
                failures
            }
            RunOutcome::Completed(failures) => {
                self.count(&failures);
                failed = Some(!failures.is_empty());
                failures
            }
            RunOutcome::LimitExceeded(exceeded, failures) => {
                cut_short::take_back(&mut self.executor, exceeded, (item, &mut notes), &self.cache);
                self.note_cut(item);
                self.uniform = Some(Vec::new());
                limit = true;
                failures
            }
        };
        self.executor.count_events();
        self.switch_points.take_races(&self.executor, failed);
        self.strategy.learn(item, &self.executor.runner.trace, notes, &self.cache);
        if failures.is_empty() {
            return Ok(None);
        }
        self.executor.note_seen(&failures);
        self.take_failures(failures, whole, limit)
    }

    /// Notes that the continuations of an item were not run to their ends.
    fn note_cut(&mut self, item: &WorkItem) {
        self.cut = Some(self.cut.map_or(item.cost, |cut| cut.min(item.cost)));
    }

    /// Remembers what ran last, if it failed, until the search has started again.
    fn carry_over(&mut self, failures: &[Failure], cost: u32) {
        let new = CarriedOver::of(&mut self.executor, failures, cost);
        self.carried_over = new.or(self.carried_over.take());
    }

    /// Runs what was remembered with the key points that there are now.
    fn run_carried_over(&mut self) -> Result<Option<SearchEnd>, SearchError> {
        let Some(carried_over) = self.carried_over.take() else { return Ok(None) };
        match carried_over.run(&mut self.executor, &mut *self.strategy)? {
            Rerun::Ended(ended) => Ok(Some(ended)),
            Rerun::CarriedOver(again) => {
                self.carried_over = Some(again);
                Ok(None)
            }
            Rerun::Failed(failures) => {
                let whole = !self.executor.runner.is_capped();
                self.take_failures(failures, whole, false)
            }
            Rerun::Nothing => Ok(None),
        }
    }

    /// Takes in what the execution that ran last has shown.
    fn take_failures(
        &mut self,
        failures: Vec<Failure>,
        whole: bool,
        limit: bool,
    ) -> Result<Option<SearchEnd>, SearchError> {
        let mut trace = mem::take(&mut self.executor.runner.trace);
        let summary = mem::take(&mut self.executor.runner.summary);
        let number = self.executor.stats.executions();
        failures.iter().for_each(|failure| self.switch_points.lock_orders.fails(failure));
        let mut left = failures.len();
        for failure in failures {
            left -= 1;
            let trace = if left == 0 { mem::take(&mut trace) } else { trace.clone() };
            let shown = FailingExecution { failure, trace, whole, limit, summary: &summary, number };
            if let Some(ended) = self.found(shown)? {
                return Ok(Some(ended));
            }
        }
        Ok(None)
    }

    fn count(&mut self, failures: &[Failure]) {
        let executor = &mut self.executor;
        let in_time = failures.iter().filter(|_| !executor.runner.termination().failed_late);
        let identities: Vec<Identity> = in_time.map(Identity::of).collect();
        match &mut self.uniform {
            None => self.uniform = Some(identities),
            Some(common) => common.retain(|identity| identities.contains(identity)),
        }
        if executor.is_narrow {
            executor.stats.narrow += 1;
            return;
        }
        if !self.cache.end(executor.runner.trace.hb.state()) {
            executor.stats.redundant += 1;
            return;
        }
        executor.stats.schedules += 1;
        executor.stats.deadlocked +=
            u64::from(failures.iter().any(|failure| failure.kind == FailureKind::Deadlock));
    }

    /// Key points were added: what was learnt no longer holds, what was found does.
    fn restart(&mut self) {
        self.executor.restart();
        self.strategy.reset(self.executor.epoch);
        self.speculative.forget();
        self.cache.clear();
        self.switch_points.restart(&mut self.executor);
        self.cut = None;
        self.auditor = Auditor::default();
        self.uniform = None;
        self.findings.iter_mut().for_each(|finding| finding.outdated = true);
    }

    /// Takes in a failure.
    fn found(&mut self, shown: FailingExecution<'_>) -> Result<Option<SearchEnd>, SearchError> {
        let identity = Identity::of(&shown.failure);
        let known = self.findings.iter().position(|finding| finding.identity == identity);
        let preemptions = shown.trace.preemptions();
        let better = |old: &Finding| old.outdated || preemptions < old.preemptions.unwrap_or(u32::MAX);
        if known.is_some_and(|at| !better(&self.findings[at])) {
            return Ok(None);
        }
        let executor = &mut self.executor;
        let shown = with_late_joins(executor, shown, &identity)?;
        if executor.is_outdated() {
            // It will be found again with the larger set of key points.
            return Ok(None);
        }
        let (reproduced, stopped) = match reproduce(executor, &shown, &identity)? {
            Reproduction::Yes => (REPLAYS, None),
            Reproduction::Stopped(ended, _) if known.is_some() => return Ok(Some(ended)),
            // The caller wants to know what there is.
            Reproduction::Stopped(ended, reproduced) => (reproduced, Some(ended)),
            Reproduction::No(note) => {
                self.notes.push(note);
                return Ok(None);
            }
            Reproduction::Promoted => return Ok(None),
        };
        // The same events once more, however many.
        executor.runner.trace = Trace::default();
        let common = self.uniform.as_ref().is_none_or(|common| common.contains(&identity));
        let suspected = common && known.is_none() && stopped.is_none();
        let always = always(executor, &shown, &identity, suspected)?;
        let finding = self.finding(shown, identity, always, reproduced);
        self.observer.found(&finding);
        match known {
            Some(at) => self.findings[at] = finding,
            None => self.findings.push(finding),
        }
        Ok(stopped.or_else(|| (!self.executor.options.keep_going).then_some(SearchEnd::FirstBug)))
    }

    fn finding(
        &self,
        shown: FailingExecution<'_>,
        identity: Identity,
        always: Option<AlwaysFailsEvidence>,
        reproduced: u32,
    ) -> Finding {
        let FailingExecution { mut failure, trace, summary, number, .. } = shown;
        if always.is_some() {
            failure.kind = FailureKind::AlwaysFails;
        }
        let preemptions = trace.preemptions();
        let first = self.executor.seen.iter().find(|(seen, _)| *seen == identity);
        let covered = self.switch_points.coverage(&*self.strategy, self.cut);
        let covered = self.strategy.covered_at_least_cost(covered, self.cut);
        Finding {
            failure,
            executions: first.map_or(number, |&(_, started)| started),
            identity,
            preemptions: Some(preemptions),
            fewest: is_fewest(preemptions, covered),
            delays: Some(trace.delays()),
            threads: Some(cost::threads(&trace)).filter(|&threads| threads == 2),
            variables: Some(cost::variables(&trace)),
            trace,
            schedule_number: number,
            reproduced: (reproduced, REPLAYS),
            summary: summary.clone(),
            epoch: self.executor.epoch,
            always,
            outdated: false,
        }
    }
}

/// Whether no schedule with fewer preemptions than these can show the same, by what was covered at the least cost.
fn is_fewest(preemptions: u32, covered: Coverage) -> bool {
    preemptions.checked_sub(1).is_none_or(|fewer| covered.is_whole_to(fewer))
}
