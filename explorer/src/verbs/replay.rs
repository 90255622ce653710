//! The verb `replay`: one saved schedule, run again.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use checker::cost;
use checker::failure::FailureKind;
use checker::program::{Choice, OpKey, Program};
use checker::search::{self, Exceeded, Replayed, SearchError};

use crate::discover;
use crate::error::Error;
use crate::input::environment;
use crate::input::project_root::roots_for_file;
use crate::narrate::finding::{self, Failing, Measured};
use crate::narrate::locations::Places;
use crate::narrate::sentences::search_notes::READ_IN_PART;
use crate::narrate::user_frames::places_of_events;
use crate::program::client;
use crate::program::exit_attribution::ExitAttribution;
use crate::program::launch::{self, Launch};
use crate::program::run_notes::{Observed, RunNotes};
use crate::program::source::{Frame, Source};
use crate::render;
use crate::report::verdict::Verdict;
use crate::report::{Covered, FORMAT, Finding, Report, VERSION};
use crate::schedule_file::{SavedTarget, ScheduleFile};
use crate::trust::{self, Consent};
use crate::verbs::adapt::adapt;
use crate::verbs::deadline::Deadline;
use crate::verbs::divergence::ErrorPhrasing;
use crate::verbs::watch::per_second;

/// Replays a schedule file and reports. Runs on the calling thread, and binds it to one CPU.
///
/// # Errors
/// When the file cannot be used, or comes from elsewhere without the user's consent to run what it names, or the
/// program does not do what the schedule says: then the text names the event.
pub fn replay(file: &Path, consent: Consent<'_>, cancel: &Arc<AtomicBool>) -> Result<Report, Error> {
    with_saved(file, consent, cancel, |context, program| context.run(program))
}

/// Does something with a saved schedule and the program that it is of, started.
pub(crate) fn with_saved<T>(
    file: &Path,
    consent: Consent<'_>,
    cancel: &Arc<AtomicBool>,
    act: impl FnOnce(&ReplayContext<'_>, &ExitAttribution<'_>) -> Result<T, Error>,
) -> Result<T, Error> {
    let saved = ScheduleFile::read(file)?;
    let here = launch::folder(Path::new("."))?;
    let file = file.canonicalize().unwrap_or_else(|_| here.join(file));
    let deadline = Deadline::never(cancel);
    let root = deadline.in_time(|| trusted_root(&saved, (&file, &here), consent))??;
    let launch = launch(&saved.target, &root)?;
    let launched = launch.start(&deadline.limit())?;
    let program = &launched.program;
    let instead = || entry(&program.executable().path, &launch.arguments, &deadline);
    let context = ReplayContext {
        saved: &saved,
        file: &file,
        root: &root,
        source: program,
        instead: &instead,
        deadline: &deadline,
    };
    if program.build_id() == saved.target.build_id {
        program.fix_key_points(&saved.found_by.key_points.instructions, &saved.found_by.key_points.memory);
    }
    act(&context, &ExitAttribution::new(&launched, &launch.arguments))
}

/// The root of the checkout in which a schedule may run: that for which it was sealed, if the program is there.
pub(crate) fn trusted_root(
    saved: &ScheduleFile,
    (file, here): (&Path, &Path),
    consent: Consent<'_>,
) -> Result<PathBuf, Error> {
    let roots = roots_for_file(file, here);
    let home = trust::home(saved, &roots);
    let root = root_of_program(&saved.target, home.iter().cloned().chain(roots).collect())?;
    trust::check(file, &saved.target, (&root, home.as_deref()), consent)?;
    Ok(root)
}

/// The first of the roots that has the program.
pub(crate) fn root_of_program(target: &SavedTarget, roots: Vec<PathBuf>) -> Result<PathBuf, Error> {
    let has_it = |root: &&PathBuf| target.program.in_checkout(root).is_file();
    match roots.iter().find(has_it) {
        Some(root) => Ok(root.clone()),
        None => Err(Error::ProgramNotHere { program: target.program.display(), roots }),
    }
}

pub(crate) fn launch(target: &SavedTarget, root: &Path) -> Result<Launch, Error> {
    let launch = Launch {
        program: target.program.in_checkout(root),
        name: target.name.as_ref().map(|name| name.0.clone()),
        arguments: target.arguments.iter().map(|argument| argument.0.clone()).collect(),
        directory: launch::folder(&target.directory.in_checkout(root))?,
        environment: environment::restored(std::env::vars_os(), &target.environment),
        stdin: target.stdin.as_ref().map(|place| launch::input(&place.in_checkout(root))).transpose()?,
        client: client::of(&target.client, &target.ready)?,
        fresh_directory: target.fresh_directory,
        ignore_exit_code: target.ignore_exit_code,
        run_timeout: target.run_timeout,
        stalls: Arc::default(),
    };
    // Stalls are not limited: everything in its schedule comes out again.
    launch.stalls.allow(Duration::MAX);
    Ok(launch)
}

/// The beginning of a program, or of the one test in it that is run.
pub(crate) fn entry(program: &Path, arguments: &[OsString], deadline: &Deadline) -> Option<Frame> {
    let read = || discover::identify(program, arguments, program.parent()?);
    launch::entry(&deadline.in_time(read).ok()??)
}

/// Result of a saved schedule.
pub(crate) struct ReplayOutcome {
    pub(crate) finding: Option<Finding>,
    pub(crate) verdict: Verdict,
    /// A sentence.
    pub(crate) ended: String,
    /// Its events.
    pub(crate) events: usize,
    pub(crate) schedules: u64,
    /// Executions beside those.
    pub(crate) other: u64,
}

/// A saved schedule and where it is replayed.
pub(crate) struct ReplayContext<'a> {
    pub(crate) saved: &'a ScheduleFile,
    pub(crate) file: &'a Path,
    pub(crate) root: &'a Path,
    pub(crate) source: &'a dyn Source,
    /// As in a search.
    pub(crate) instead: &'a dyn Fn() -> Option<Frame>,
    pub(crate) deadline: &'a Deadline,
}

impl ReplayContext<'_> {
    pub(crate) fn run(&self, program: &impl Program) -> Result<Report, Error> {
        let started = Instant::now();
        let run_notes = RunNotes::default();
        let program = Observed::new(program, self.saved.target.arguments_in_words(), false, &run_notes);
        let (replayed, mut notes) = self.replayed(&program)?;
        notes.extend(self.source.notes());
        notes.extend(run_notes.notes());
        let outcome = self.outcome(&program, replayed.as_ref());
        notes.extend(self.source.is_read_in_part().then(|| READ_IN_PART.to_owned()));
        Ok(self.report(outcome, notes, started.elapsed().as_secs_f64()))
    }

    /// Runs the schedule; nothing, where that was stopped. With it comes what is to be said about it.
    pub(crate) fn replayed(&self, program: &impl Program) -> Result<(Option<Replayed>, Vec<String>), Error> {
        let places = Places::new(self.source, self.root);
        let mut notes = Vec::new();
        let limit = self.deadline.limit();
        let steps = if self.source.build_id() == self.saved.target.build_id {
            Ok(self.saved.choices.iter().map(|choice| (choice.choice(), choice.key())).collect())
        } else {
            notes.push(
                "the program was rebuilt since the schedule was saved; the schedule still applies".to_owned(),
            );
            adapt(program, &self.saved.choices, &places, &limit)
        };
        let step_limit = self.saved.target.step_limit;
        let replay = |steps: Vec<(Choice, OpKey)>| {
            search::replay(program, &steps, step_limit, &limit)
                .map_err(|error| ErrorPhrasing(&places).search_error(error))
        };
        match steps.and_then(replay) {
            Ok(replayed) => Ok((Some(replayed), notes)),
            Err(Error::Search(SearchError::Stopped)) => Ok((None, notes)),
            Err(error) => Err(error),
        }
    }

    fn outcome(&self, program: &impl Program, replayed: Option<&Replayed>) -> ReplayOutcome {
        let finding = replayed.and_then(|replayed| self.finding(program, replayed));
        let (verdict, ended) = match (replayed, &finding) {
            (None, _) => (Verdict::Inconclusive, "it was stopped"),
            (Some(_), Some(_)) => (Verdict::Found, "the schedule was replayed, and fails"),
            (Some(Replayed { cut: Some(Exceeded::Events), .. }), None) => (
                Verdict::Inconclusive,
                "the schedule was replayed, and its execution cut after as many events as one may have (--step-limit)",
            ),
            (Some(Replayed { cut: Some(Exceeded::Time), .. }), None) => (
                Verdict::Inconclusive,
                "the schedule was replayed, and a thread came to no key point for as long as it may run (--run-timeout)",
            ),
            (Some(_), None) => (Verdict::Clean, "the schedule was replayed, and nothing fails"),
        };
        ReplayOutcome {
            finding,
            verdict,
            ended: ended.to_owned(),
            events: replayed.map_or(0, |replayed| replayed.trace.steps.len()),
            schedules: u64::from(replayed.is_some()),
            other: 0,
        }
    }

    pub(crate) fn report(&self, outcome: ReplayOutcome, mut notes: Vec<String>, elapsed: f64) -> Report {
        let ReplayOutcome { finding, verdict, ended, events, schedules, other } = outcome;
        if let Some(other) = finding.as_ref().filter(|finding| finding.kind != self.saved.failure.kind) {
            notes.push(format!(
                "the schedule was saved for another failure ({}); this one is: {}",
                self.saved.failure.message,
                render::kind_words(other.kind)
            ));
        }
        Report {
            format: FORMAT.to_owned(),
            version: VERSION,
            tool: env!("CARGO_PKG_VERSION").to_owned(),
            target: self.saved.target.program_in_words(),
            replayed: Some(self.file.to_string_lossy().into_owned()),
            verdict,
            strategy: self.saved.found_by.strategy.clone(),
            seed: self.saved.found_by.seed,
            schedules,
            executions: 0,
            deadlocked: u64::from(
                finding.as_ref().is_some_and(|finding| finding.kind == FailureKind::Deadlock),
            ),
            redundant: 0,
            pruned: 0,
            other,
            narrow: None,
            threads: 0,
            covered: Covered::default(),
            not_covered: Vec::new(),
            complete: false,
            at_synchronisation: None,
            ended,
            elapsed_seconds: elapsed,
            schedules_per_second: per_second(schedules, elapsed),
            key_points_per_schedule: events as f64,
            notes,
            findings: finding.into_iter().collect(),
            stalled: None,
            races: Vec::new(),
            suppressed_races: 0,
            potential_deadlocks: Vec::new(),
            suppressed_potential_deadlocks: 0,
        }
    }

    fn finding(&self, program: &impl Program, replayed: &Replayed) -> Option<Finding> {
        let places = Places::new(self.source, self.root);
        let mut failure = replayed.failure.clone()?;
        // One execution cannot tell that every one fails; the search that saved the schedule could.
        if self.saved.failure.kind == FailureKind::AlwaysFails {
            failure.kind = FailureKind::AlwaysFails;
        }
        let trace = &replayed.trace;
        let at = places_of_events(program, trace, &places);
        let measured = Measured {
            schedule_number: 0,
            executions: 1,
            preemptions: Some(trace.preemptions()),
            fewest: self.saved.failure.fewest,
            delays: Some(trace.delays()),
            threads: Some(cost::threads(trace)).filter(|&threads| threads == 2),
            variables: Some(cost::variables(trace)),
            reproduced: (1, 1),
        };
        let summary = &replayed.summary;
        let failing = Failing { at: &at, failure: &failure, trace, summary, instead: self.instead };
        let mut told = finding::report(&failing, &measured, &places);
        told.tried = self.saved.failure.tried;
        told.schedule_file = Some(self.file.to_string_lossy().into_owned());
        Some(told)
    }
}
