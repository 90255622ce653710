//! One search of one program: from a request to a report with its schedules saved.

mod execute;
mod explain;
pub(crate) mod save;
pub(crate) mod session;
mod stalled;
mod suppress;
pub(super) mod sync_scope;

use std::collections::HashSet;
use std::io::{self, Write};
use std::mem;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use checker::account::{Unwatched, UnwatchedKind};
use checker::program::Program;
use checker::race::Triangle;
use checker::search::{self, Options, SearchEnd, SearchError, SearchOutcome, Stats};
use ptrace_backend::attention::Attention;

use self::execute::{in_order, is_complete};
use self::session::{SearchFindings, SearchSession};
use self::stalled::{SearchCarryover, nanoseconds};
use self::suppress::suppress;
use crate::error::Error;
use crate::escaping;
use crate::input::environment;
use crate::input::request::{MemoryModel, Request};
use crate::narrate::run_again::RunAgain;
use crate::narrate::sentences::phrasing::Phrasing;
use crate::narrate::sentences::search_notes::{AWAITS_OUTSIDE, READ_IN_PART, long_executions};
use crate::narrate::sentences::unwatched;
use crate::narrate::thread_labels::ThreadLabels;
use crate::narrate::{potential_deadlocks, races};
use crate::program::run_notes::{ExecutionCosts, Observed, RunNotes};
use crate::program::test_output::is_one_test;
use crate::program::worker_pool::Replicable;
use crate::render;
use crate::report::BufferedStore;
use crate::report::plural::{grouped, plural};
use crate::report::verdict::Verdict;
use crate::report::{Covered, FORMAT, Narrow, Report, VERSION};
use crate::say::sentence;
use crate::store::StoreError;
use crate::store::findings::{Extent, FindingWriter};
use crate::verbs::divergence::ErrorPhrasing;
use crate::verbs::watch::{SearchObserver, Watch, per_second};

impl SearchSession<'_> {
    /// Searches, saves what was found, and reports. The time for it has begun.
    pub(crate) fn run(
        &self,
        program: &impl Program,
        workers: Option<&impl Replicable>,
        watch: &mut dyn Watch,
    ) -> Result<Report, Error> {
        let started = Instant::now();
        let run_notes = RunNotes::default();
        let arguments = self.target.arguments.iter().map(|argument| argument.0.to_string_lossy());
        let is_one_test = is_one_test(&self.name, arguments);
        let words = self.target.arguments_in_words();
        let program = Observed::new(program, words, is_one_test, &run_notes);
        let mut writer = FindingWriter::new(self.store, self.root, self.name.clone(), &self.target)
            .within(Extent::of(self.request));
        let mut made = SearchFindings::default();
        let mut keep = |found: &search::Finding| {
            let (mut told, file) = self.finding(&program, found);
            made.keep(&mut writer, &found.identity, &mut told, &file);
            told
        };
        let is_to_judge = Arc::new(AtomicBool::new(false));
        let mut observer = SearchObserver { started, watch, keep: &mut keep, is_to_judge: &is_to_judge };
        let taken_in = |ending: &_| run_notes.take_in(ending, is_one_test);
        let options = Options { limit: self.limit_of_search(&is_to_judge), ..self.options() };
        let _attention = Attention::pay();
        let outcome = self.search(&program, workers, (&options, &taken_in), &mut observer);
        made.notes.extend(self.alone(workers.is_some()));
        let mut outcome = outcome.map_err(|error| ErrorPhrasing(&self.places()).search_error(error))?;
        made.notes.extend(self.too_slow(&outcome, &run_notes.pace()));
        if let Some(error) = program.missed_its_test() {
            return Err(Error::Search(error.into()));
        }
        let elapsed = started.elapsed().as_secs_f64();
        self.explain_all(&program, &mut outcome, (&mut writer, &mut made), watch);
        let mut report = self.report(&outcome, made, elapsed);
        let ended = self.ended(&outcome);
        let is_explained = self.request.explain && !outcome.findings.is_empty();
        let mut judge = || self.judge(&program, &mut outcome);
        let (again, locked_again, torn) =
            if is_explained { self.deadline.while_telling(judge) } else { judge() };
        let races = mem::take(&mut outcome.races).into_found();
        let mut unwatched = run_notes.unwatched();
        let buffered = &outcome.triangles;
        let buffering = Unwatched::of(UnwatchedKind::StoreBuffering);
        if self.request.memory_model == MemoryModel::Sc {
            unwatched.remove(&buffering);
        } else if !buffered.is_empty() {
            *unwatched.entry(buffering).or_default() += buffered.len() as u64;
        }
        if torn > 0 {
            unwatched.insert(Unwatched::of(UnwatchedKind::TornAccess), torn);
        }
        let (mut not_covered, assumes) = unwatched::split(&unwatched, &self.request.assume);
        for entry in not_covered.iter_mut().filter(|entry| entry.kind == UnwatchedKind::StoreBuffering) {
            entry.stores =
                buffered.iter().take(unwatched::STORES).map(|found| self.buffered(found)).collect();
        }
        report.notes.extend(unwatched::unused(&unwatched, &self.request.assume));
        (report.not_covered, report.covered.assumes) = (not_covered, assumes);
        let needed = self.stalls.and_then(|stalls| stalls.needed());
        report.covered.max_stall_ns = needed.map(|_| nanoseconds(self.request.max_stall));
        report.covered.memory_model =
            Some(self.request.memory_model).filter(|model| *model == MemoryModel::Sc);
        if report.verdict == Verdict::Clean && !report.not_covered.is_empty() {
            report.verdict = Verdict::Inconclusive;
        }
        report.races = races::report(&races, &again, &self.places());
        report.at_synchronisation = sync_scope::report(&outcome, &report.races);
        report.potential_deadlocks =
            potential_deadlocks::report(mem::take(&mut outcome.lock_orders), &locked_again, &self.places());
        suppress(&mut report, self.suppressions);
        if self.request.fail_on_races && !report.races.is_empty() {
            report.verdict = Verdict::Found;
        }
        // Executions that were stopped in the middle, or that were needed to tell where something is.
        report.other = run_notes.executions() - outcome.stats.executions_now();
        report.notes.extend(run_notes.notes());
        report.notes = report.notes.into_iter().map(sentence).collect();
        let reason = sentence(ended.0);
        if report.findings.is_empty() {
            let carryover = SearchCarryover { taken_in: &taken_in, writer: &mut writer, watch, started };
            self.explore_stalled(&program, workers, &mut report, carryover);
        }
        report.notes.extend(self.source.is_read_in_part().then(|| sentence(READ_IN_PART.to_owned())));
        let kept = self.keep(&report).and_then(|()| writer.end(&report, reason));
        report.notes.extend(kept.err().map(|error| sentence(error.to_string())));
        // A reason against one file often stands against the next one as well.
        let mut told = HashSet::new();
        report.notes.retain(|note| told.insert(note.clone()));
        Ok(report)
    }

    /// Drops what the search has seen that is none: races, and potential deadlocks; and how many accesses may be found half done.
    fn judge(&self, program: &impl Program, outcome: &mut SearchOutcome) -> (RunAgain, RunAgain, u64) {
        let (places, limit) = (self.places(), self.deadline.limit());
        let raced = races::confirm(program, &mut outcome.races, &places, &limit);
        let lock_orders = (&mut outcome.lock_orders, outcome.races.variables());
        let locked = potential_deadlocks::confirm(program, lock_orders, &places, &limit);
        (raced, locked, races::torn(program, outcome, &limit))
    }

    /// The places of a triangular race.
    fn buffered(&self, found: &Triangle) -> BufferedStore {
        let places = self.places();
        let [store, load, other] = [found.write, found.read, found.other].map(|site| places.of_site(site));
        BufferedStore { store, load, other }
    }

    /// The reason for which one worker ran all executions, where more were asked for.
    fn alone(&self, repeatable: bool) -> Option<String> {
        let Request { workers, strategy, .. } = self.request;
        let why = if !repeatable {
            "with --fresh-dir executions take turns in one folder".to_owned()
        } else if !strategy.runs_ahead() {
            format!("each execution of {} depends on what the one before it has shown", strategy.name())
        } else {
            return None;
        };
        workers
            .is_some_and(|workers| workers.get() > 1)
            .then(|| format!("one worker ran all executions: {why}"))
    }

    /// The time that executions take, where nothing is covered in the time that there was.
    fn too_slow(&self, outcome: &SearchOutcome, pace: &ExecutionCosts) -> Option<String> {
        let Request { time_limit, max_schedules, .. } = *self.request;
        let ran = outcome.stats.executions();
        let is_late = outcome.ended == SearchEnd::Budget && ran < max_schedules;
        let is_nothing = Covered::from(outcome.covered) == Covered::default();
        if is_late && is_nothing { long_executions(pace, ran, time_limit) } else { None }
    }

    fn keep(&self, report: &Report) -> Result<(), StoreError> {
        self.store.write("report.txt", render::render(report).as_bytes())?;
        self.store.write_with("report.json", |to| json(report, to))?;
        Ok(())
    }

    fn report(&self, outcome: &SearchOutcome, made: SearchFindings, elapsed: f64) -> Report {
        let stats = &outcome.stats;
        let mut notes = self.notes(outcome);
        notes.extend(made.notes);
        Report {
            format: FORMAT.to_owned(),
            version: VERSION,
            tool: env!("CARGO_PKG_VERSION").to_owned(),
            target: self.target.program_in_words(),
            replayed: None,
            verdict: verdict(outcome, self.request),
            strategy: self.request.strategy.name().to_owned(),
            seed: self.request.seed,
            executions: stats.executions(),
            schedules: stats.schedules,
            deadlocked: stats.deadlocked,
            redundant: stats.redundant,
            pruned: stats.pruned,
            other: 0,
            narrow: narrow(stats),
            threads: self.threads(stats),
            covered: Covered::from(outcome.covered),
            not_covered: Vec::new(),
            complete: is_complete(outcome, self.request),
            at_synchronisation: None,
            ended: sentence(with_option(self.ended(outcome))),
            elapsed_seconds: elapsed,
            schedules_per_second: per_second(stats.executions(), elapsed),
            key_points_per_schedule: each(stats.events, stats.executions_now() - stats.narrow),
            notes,
            findings: in_order(outcome, made.findings),
            stalled: None,
            races: Vec::new(),
            suppressed_races: 0,
            potential_deadlocks: Vec::new(),
            suppressed_potential_deadlocks: 0,
        }
    }

    /// The most threads of one execution; the main thread is one also where nothing of it is recorded.
    fn threads(&self, stats: &Stats) -> u32 {
        let harness = usize::from(self.source.harness().is_some());
        u32::try_from(stats.threads.saturating_sub(harness).max(1)).unwrap_or(u32::MAX)
    }

    fn notes(&self, outcome: &SearchOutcome) -> Vec<String> {
        let labels = ThreadLabels::of([], None);
        let words = Phrasing { labels: &labels, source: self.source };
        let places = self.places();
        let in_words = |error: &SearchError| ErrorPhrasing(&places).search_error(error.clone()).to_string();
        let mut notes: Vec<String> =
            outcome.notes.iter().map(|note| words.search_note(note, in_words)).collect();
        notes.extend(too_long(&outcome.stats, self.request.step_limit, !self.request.client.is_empty()));
        notes.extend(self.source.notes());
        if environment::lets_openmp_sleep(&self.target.environment) {
            notes.push("threads of OpenMP sleep where they wait (OMP_WAIT_POLICY=passive)".to_owned());
        }
        notes.extend(self.source.assumptions());
        if !self.target.program.is_portable() {
            notes.push(format!(
                "the program lies outside `{}`, so that its schedules name it by absolute path and are not portable",
                self.root.display()
            ));
        }
        let outdated = outcome.findings.iter().filter(|finding| finding.outdated).count();
        if outdated > 0 {
            notes.push(format!(
                "{outdated} of the findings came before more key points were found, and not again since"
            ));
        }
        notes
    }

    /// The reason for which the search ended, and the option of the command line that has to do with it.
    fn ended(&self, outcome: &SearchOutcome) -> (String, Option<&'static str>) {
        match outcome.ended {
            SearchEnd::Covered => ("nothing was left to explore within the bound".to_owned(), None),
            SearchEnd::FirstBug => ("a failure was found".to_owned(), Some("--keep-going looks for more")),
            SearchEnd::Cancelled => ("it was stopped".to_owned(), None),
            SearchEnd::Budget if outcome.stats.executions() >= self.request.max_schedules => {
                let schedules = plural(self.request.max_schedules, "schedule");
                (format!("it ran {schedules}"), Some("--max-schedules"))
            }
            SearchEnd::Budget => {
                let all = self.request.time_limit;
                let SearchOutcome { races, lock_orders, torn, .. } = outcome;
                let judges = !(races.is_empty() && lock_orders.is_empty() && torn.is_empty());
                let rest = match (self.may_stall(), judges) {
                    (false, false) => None,
                    (true, false) => Some("a part of which is for stalled threads"),
                    (false, true) => Some("a part of which is for judging what it has seen"),
                    (true, true) => {
                        Some("parts of which are for stalled threads and for judging what it has seen")
                    }
                };
                let share = |rest| format!("its share of {all:?} was up, {rest}");
                let reason = rest.map_or_else(|| format!("its time was up after {all:?}"), share);
                (reason, Some("--time-limit"))
            }
        }
    }
}

fn with_option((reason, option): (String, Option<&'static str>)) -> String {
    option.map_or_else(|| reason.clone(), |option| format!("{reason} ({option})"))
}

/// Notes for the user: the numbers of executions that a limit on each of them has cut.
fn too_long(stats: &Stats, step_limit: u32, has_client: bool) -> Vec<String> {
    let all = stats.executions_now().max(1);
    let share = |cut: u64, what: String| {
        let percent = (100 * cut).div_ceil(all);
        let (cut, of) = (grouped(cut), plural(all, "schedule"));
        format!(
            "{what}: {cut} of {of} ({percent} %) were cut there, and what comes after that is not covered"
        )
    };
    let events = grouped(step_limit.into());
    let long = (stats.too_long > 0).then(|| {
        share(stats.too_long, format!("some executions are longer than {events} events (--step-limit)"))
    });
    let slow = (stats.too_slow > 0).then(|| {
        let what =
            "in some executions a thread comes to no key point for as long as it may run (--run-timeout)";
        share(stats.too_slow, what.to_owned())
    });
    // With a client there is a process that sends.
    let awaits = (stats.awaits_outside > 0 && !has_client).then(|| AWAITS_OUTSIDE.to_owned());
    [long, slow, awaits].into_iter().flatten().collect()
}

/// Executions with few key points.
fn narrow(stats: &Stats) -> Option<Narrow> {
    let Stats { narrow: schedules, narrow_events: events, .. } = *stats;
    (schedules > 0).then(|| Narrow { schedules, key_points_per_schedule: each(events, schedules) })
}

fn each(events: u64, executions: u64) -> f64 {
    events as f64 / executions.max(1) as f64
}

/// Verdict of a search. Only a bound that was asked for and covered is clean.
fn verdict(outcome: &SearchOutcome, request: &Request) -> Verdict {
    if !outcome.findings.is_empty() {
        Verdict::Found
    } else if is_complete(outcome, request) {
        Verdict::Clean
    } else {
        Verdict::Inconclusive
    }
}

/// Writes the object that `--format json` prints; ends with a line break.
///
/// # Errors
/// When it cannot be written.
pub fn json(report: &Report, to: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(escaping::Json::new(&mut *to), &report.shortened())?;
    to.write_all(b"\n")
}
