//! The search loop: owns budget, progress, cancellation, counting, epochs and findings; knows no strategy by name.

mod ahead;
mod always;
mod audit;
mod carry;
mod determinism;
mod findings;
mod long;
mod narrow;
mod note;
mod only_synchronisation;
mod options;
mod outcome;
mod plan;
mod replay;
mod sample;
#[cfg(test)]
pub(crate) mod tests;
mod tidy;

use std::mem;

use self::ahead::Ahead;
pub use self::ahead::{Alone, Desk, Done, Job, Paper, Workers};
use self::carry::Carried;
use self::determinism::Check;
pub use self::findings::Identity;
use self::findings::Reproduction;
pub use self::note::SearchNote;
pub use self::options::Options;
pub use self::outcome::{Ended, Finding, Outcome, Progress, Stats};
pub use self::replay::{Replayed, replay};
pub use self::sample::sample;
use crate::cache::Cache;
use crate::event::failure::{Failure, FailureKind};
use crate::execution::{End, Limits, Runner};
pub use crate::execution::{Exceeded, SearchError};
pub use crate::limit::Go;
use crate::program::{Ending, Epoch, Program};
use crate::race;
use crate::race::{Pairs, Triangles};
use crate::strategy::{Coverage, Next, Strategy, WorkItem};
use crate::trace::Trace;

/// Whoever started a search: is told how far it is. What stops it is [`Options::limit`].
pub trait Observer {
    /// Called after every execution.
    fn progress(&mut self, progress: &Progress);

    /// Called as soon as a failure has been reproduced; again when a better schedule shows it.
    fn found(&mut self, _: &Finding) {}
}

/// Explores a program.
///
/// # Errors
/// When the program cannot be run, or does not do the same under the same schedule.
pub fn explore<P: Program>(
    program: &P,
    options: &Options,
    observer: &mut dyn Observer,
) -> Result<Outcome, SearchError> {
    explore_with(program, options, Box::new(Alone), observer)
}

/// The same with workers beside the calling thread. Whatever they do, what comes out is what comes out without them.
///
/// # Errors
/// When the program cannot be run, or does not do the same under the same schedule.
pub fn explore_with<'a, P: Program>(
    program: &'a P,
    options: &'a Options,
    workers: Box<dyn Workers + 'a>,
    observer: &'a mut dyn Observer,
) -> Result<Outcome, SearchError> {
    let mut search = Search::new(program, options, observer);
    search.ahead = Ahead::new(workers);
    search.run().map_err(SearchError::while_searching)
}

struct Search<'a, P> {
    options: &'a Options,
    observer: &'a mut dyn Observer,
    runner: Runner<'a, P>,
    strategy: Box<dyn Strategy>,
    cache: Cache,
    /// What runs before its turn.
    ahead: Ahead<'a>,
    stats: Stats,
    findings: Vec<Finding>,
    races: Pairs,
    triangles: Triangles,
    /// The failures that were seen, and how many executions had been started by the first that showed them.
    seen: Vec<(Identity, u64)>,
    /// What failed while key points were added under it.
    carried_over: Option<Carried>,
    /// There are new scheduling points, which the backend knows nothing of.
    widened: bool,
    /// Threads are switched at every operation, whatever was asked for: one of them gives way.
    everywhere: bool,
    /// The execution that ran last had few variables' accesses as key points.
    is_narrow: bool,
    /// Everything that may be a key point was watched in the execution that ran last.
    is_checked: bool,
    /// The least cost at which something was left unexplored.
    cut: Option<u32>,
    /// The failures that every execution so far has shown; `None` before the first one.
    uniform: Option<Vec<Identity>>,
    notes: Vec<SearchNote>,
    epoch: Epoch,
    /// How many executions there had been since the last restart at the last audit.
    audited: u64,
    check: Check,
}

impl<'a, P: Program> Search<'a, P> {
    fn new(program: &'a P, options: &'a Options, observer: &'a mut dyn Observer) -> Self {
        let (strategy, rule) = options.strategy.plan(options);
        Self {
            options,
            observer,
            runner: Runner::new(program, Limits::of(options)),
            strategy,
            cache: Cache::new(rule.filter(|_| options.cache)),
            ahead: Ahead::new(Box::new(Alone)),
            stats: Stats::default(),
            findings: Vec::new(),
            races: Pairs::default(),
            triangles: Triangles::default(),
            seen: Vec::new(),
            carried_over: None,
            widened: false,
            everywhere: false,
            is_narrow: false,
            is_checked: false,
            cut: None,
            uniform: None,
            notes: Vec::new(),
            epoch: Epoch::default(),
            audited: 0,
            check: Check::default(),
        }
    }

    fn run(mut self) -> Result<Outcome, SearchError> {
        let checked = if self.is_check_due() { self.check_determinism()? } else { None };
        self.epoch = self.runner.program.epoch();
        let ended = match checked {
            Some(ended) => ended,
            None => match self.search() {
                Ok(ended) => ended,
                Err(error) if self.findings.is_empty() => return Err(error),
                // What was found and reproduced before counts all the same.
                Err(error) => {
                    self.notes.push(SearchNote::StoppedEarly(error.while_searching()));
                    Ended::Cancelled
                }
            },
        };
        let is_too_narrow = self.is_too_narrow();
        let at_end = |mut covered: Coverage| {
            covered.everything &= ended == Ended::Covered;
            covered
        };
        let covered = at_end(self.coverage());
        let at_synchronisation = self.at_synchronisation().map(at_end);
        for finding in self.findings.iter_mut().filter(|finding| !finding.outdated) {
            finding.fewest &= !is_too_narrow;
            let lowest = self.strategy.runs_at_least_cost();
            finding.fewest |= is_fewest(finding.preemptions.unwrap_or(u32::MAX), covered, lowest);
        }
        self.notes.extend(self.races.is_cut().then_some(SearchNote::ManyRaces(race::MOST)));
        self.notes.extend(self.strategy.lacks_costs().then_some(SearchNote::UnknownPreemptions));
        self.notes.extend(self.everywhere.then_some(SearchNote::SwitchedEverywhere));
        let Self { stats, findings, races, triangles, notes, .. } = self;
        let triangles = triangles.observable();
        Ok(Outcome { stats, covered, at_synchronisation, findings, races, triangles, ended, notes })
    }

    fn search(&mut self) -> Result<Ended, SearchError> {
        self.switch_at_synchronisation();
        loop {
            if self.runner.program.epoch() != self.epoch || mem::take(&mut self.widened) {
                self.restart();
            }
            if let Some(ended) = self.run_carried_over()? {
                return Ok(ended);
            }
            if self.runner.program.epoch() != self.epoch {
                continue;
            }
            if self.options.limit.is_over() {
                return Ok(Ended::from(self.options.limit.look()));
            }
            let Some(item) = self.next_item() else {
                if self.is_unchecked() {
                    match self.check_determinism()? {
                        Some(ended) => return Ok(ended),
                        None => continue,
                    }
                }
                match self.audit_last()? {
                    Some(ended) => return Ok(ended),
                    None if self.runner.program.epoch() != self.epoch => continue,
                    None => return Ok(Ended::Covered),
                }
            };
            if self.options.max_schedules.is_some_and(|max| self.stats.executions() >= max) {
                return Ok(Ended::Budget);
            }
            let ended = match self.execute(&item)? {
                None => self.audit_now_and_then()?,
                ended => ended,
            };
            if let Some(ended) = ended {
                return Ok(ended);
            }
            let progress = Progress {
                schedules: self.stats.executions(),
                bound: self.strategy.bound(),
                findings: self.findings.len(),
            };
            self.observer.progress(&progress);
        }
    }

    /// The next item; none where nothing is left, or something else comes first.
    fn next_item(&mut self) -> Option<WorkItem> {
        if self.is_check_due() {
            return None;
        }
        match self.strategy.next(&self.cache) {
            Next::Work(item) => Some(item),
            Next::Wait | Next::Done => None,
        }
    }

    /// Runs one item; says whether the search ends with it.
    fn execute(&mut self, item: &WorkItem) -> Result<Option<Ended>, SearchError> {
        self.hand_out_ahead();
        self.is_narrow = false;
        let (end, mut notes) = match self.ran_ahead(item)? {
            Some(ran) => ran,
            None => self.run_item(item)?,
        };
        if !self.is_narrow {
            // What ran ahead teaches only now.
            self.runner.note_doubt(self.is_checked);
        }
        self.note_gap(item);
        self.keep_first_ever();
        let whole = !self.runner.is_capped();
        let mut limit = false;
        // Whether it failed, if it went to its end.
        let mut failed = None;
        let failures = match end {
            End::Stopped(go) => return Ok(Some(Ended::from(go))),
            End::Promoted(failures) => {
                self.stats.pruned += 1;
                self.carry_over(&failures, item.cost);
                return Ok(None);
            }
            End::Cut => {
                self.stats.pruned += 1;
                Vec::new()
            }
            End::Ended(failures) if !self.strategy.is_within(&self.runner.trace) => {
                self.stats.pruned += 1;
                failures
            }
            End::Ended(failures) => {
                self.count(&failures);
                failed = Some(!failures.is_empty());
                failures
            }
            End::Limit(exceeded, failures) => {
                self.take_long(item, &mut notes, exceeded);
                limit = true;
                failures
            }
        };
        self.count_events();
        self.take_races(failed);
        self.strategy.learn(item, &self.runner.trace, notes, &self.cache);
        if failures.is_empty() {
            return Ok(None);
        }
        self.note_seen(&failures);
        self.take_failures(failures, whole, limit)
    }

    /// Takes in what the execution that ran last has shown.
    fn take_failures(
        &mut self,
        failures: Vec<Failure>,
        whole: bool,
        limit: bool,
    ) -> Result<Option<Ended>, SearchError> {
        let mut trace = mem::take(&mut self.runner.trace);
        let ending = mem::take(&mut self.runner.ending);
        let number = self.stats.executions();
        let mut left = failures.len();
        for failure in failures {
            left -= 1;
            let trace = if left == 0 { mem::take(&mut trace) } else { trace.clone() };
            let shown = Shown { failure, trace, whole, limit, ending: &ending, number };
            if let Some(ended) = self.found(shown)? {
                return Ok(Some(ended));
            }
        }
        Ok(None)
    }

    /// Keeps in mind which failures the execution that has just ended was the first to show.
    fn note_seen(&mut self, failures: &[Failure]) {
        let started = self.stats.executions() + self.stats.other + self.runner.looks;
        for identity in failures.iter().map(Identity::of) {
            if self.seen.iter().all(|(seen, _)| *seen != identity) {
                self.seen.push((identity, started));
            }
        }
    }

    fn count(&mut self, failures: &[Failure]) {
        let in_time = failures.iter().filter(|_| !self.runner.over().failed_late);
        let identities: Vec<Identity> = in_time.map(Identity::of).collect();
        match &mut self.uniform {
            None => self.uniform = Some(identities),
            Some(common) => common.retain(|identity| identities.contains(identity)),
        }
        if self.is_narrow {
            self.stats.narrow += 1;
            return;
        }
        if !self.cache.end(self.runner.trace.hb.state()) {
            self.stats.redundant += 1;
            return;
        }
        self.stats.schedules += 1;
        self.stats.deadlocked +=
            u64::from(failures.iter().any(|failure| failure.kind == FailureKind::Deadlock));
    }

    /// Key points were added: what was learnt no longer holds, what was found does.
    fn restart(&mut self) {
        let Stats { other, before_restart, .. } = self.stats;
        let before_restart = before_restart + self.stats.executions_now();
        self.stats = Stats { other, before_restart, ..Stats::default() };
        self.epoch = self.runner.program.epoch();
        self.strategy.reset(self.epoch);
        self.ahead.forget();
        self.cache.clear();
        self.races.restart();
        self.triangles = Triangles::default();
        self.switch_at_synchronisation();
        self.cut = None;
        self.audited = 0;
        self.runner.to_audit.clear();
        self.uniform = None;
        self.findings.iter_mut().for_each(|finding| finding.outdated = true);
    }

    /// Takes in a failure.
    fn found(&mut self, shown: Shown<'_>) -> Result<Option<Ended>, SearchError> {
        let identity = Identity::of(&shown.failure);
        let known = self.findings.iter().position(|finding| finding.identity == identity);
        let preemptions = shown.trace.preemptions();
        let better = |old: &Finding| old.outdated || preemptions < old.preemptions.unwrap_or(u32::MAX);
        if known.is_some_and(|at| !better(&self.findings[at])) {
            return Ok(None);
        }
        let shown = self.tidied(shown, &identity)?;
        if self.runner.program.epoch() != self.epoch {
            // It will be found again with the larger set of key points.
            return Ok(None);
        }
        let (reproduced, stopped) = match self.reproduce(&shown, &identity)? {
            Reproduction::Yes => (findings::REPLAYS, None),
            Reproduction::Stopped(ended, _) if known.is_some() => return Ok(Some(ended)),
            // Somebody wants to know what there is.
            Reproduction::Stopped(ended, reproduced) => (reproduced, Some(ended)),
            Reproduction::No(note) => {
                self.notes.push(note);
                return Ok(None);
            }
            Reproduction::Promoted => return Ok(None),
        };
        // The same events once more, however many.
        self.runner.trace = Trace::default();
        let common = self.uniform.as_ref().is_none_or(|common| common.contains(&identity));
        let suspected = common && known.is_none() && stopped.is_none();
        let always = self.is_always(&shown, &identity, suspected)?;
        let finding = self.finding(shown, identity, always, reproduced);
        self.observer.found(&finding);
        match known {
            Some(at) => self.findings[at] = finding,
            None => self.findings.push(finding),
        }
        Ok(stopped.or_else(|| (!self.options.keep_going).then_some(Ended::FirstBug)))
    }

    fn finding(&self, shown: Shown<'_>, identity: Identity, always: bool, reproduced: u32) -> Finding {
        let Shown { mut failure, trace, ending, number, .. } = shown;
        if always {
            failure.kind = FailureKind::AlwaysFails;
        }
        let preemptions = trace.preemptions();
        let first = self.seen.iter().find(|(seen, _)| *seen == identity);
        let covered = self.coverage();
        Finding {
            failure,
            executions: first.map_or(number, |&(_, started)| started),
            identity,
            preemptions: Some(preemptions),
            fewest: is_fewest(preemptions, covered, self.strategy.runs_at_least_cost()),
            delays: Some(trace.delays()),
            threads: Some(crate::trace::cost::threads(&trace)).filter(|&threads| threads == 2),
            variables: Some(crate::trace::cost::variables(&trace)),
            trace,
            schedule_number: number,
            reproduced: (reproduced, findings::REPLAYS),
            ending: ending.clone(),
            epoch: self.epoch,
            outdated: false,
        }
    }
}

/// Whether no schedule with fewer preemptions than these can show the same. `lowest`: each class of schedules was run with as
/// few as it can have.
fn is_fewest(preemptions: u32, covered: Coverage, lowest: bool) -> bool {
    preemptions.checked_sub(1).is_none_or(|fewer| lowest && covered.is_whole_to(fewer))
}

/// A failure, and the execution that showed it.
struct Shown<'t> {
    failure: Failure,
    trace: Trace,
    /// The trace goes to the end of the execution.
    whole: bool,
    /// The execution was cut by a limit.
    limit: bool,
    ending: &'t Ending,
    number: u64,
}
