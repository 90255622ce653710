//! The verb `minimise`: the schedule of a finding that a store keeps, made as simple as it gets, however long that takes.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use checker::explain::ExplanationError;
use checker::program::Program;
use checker::search::{self, Identity};
use ptrace_backend::preflight::{self, Executable};

use crate::config::Suppressions;
use crate::error::Error;
use crate::input::request::{Effort, Request, Strategy};
use crate::program::exit_attribution::ExitAttribution;
use crate::program::launch::{self, Launch};
use crate::program::run_notes::{Observed, RunNotes};
use crate::program::source::Source;
use crate::report::Report;
use crate::report::verdict::Verdict;
use crate::schedule_file::ScheduleFile;
use crate::store::Store;
use crate::store::findings::{FindingWriter, KeptFinding, KeptFolder};
use crate::trust::Consent;
use crate::verbs::deadline::Deadline;
use crate::verbs::replay::{ReplayContext, ReplayOutcome, entry, launch, trusted_root};
use crate::verbs::search::session::{SearchFindings, SearchSession};
use crate::verbs::watch::{Progress, Watch, per_second};

/// The least time between two reports of progress.
const PAUSE: Duration = Duration::from_millis(100);

/// Makes the failing schedule of a finding as simple as it gets, and explains it; neither time nor a number of executions
/// ends that, but `cancel` does. The result takes the finding's place in its store; the schedule in which it was found is
/// kept. Runs on the calling thread, and binds it to one CPU.
///
/// # Errors
/// When the file is not the schedule of a finding, or comes from elsewhere without the user's consent to run what it
/// names, or its program is not the one in which it was found.
pub fn minimise(
    file: &Path,
    consent: Consent<'_>,
    cancel: &Arc<AtomicBool>,
    watch: &mut dyn Watch,
) -> Result<Report, Error> {
    let started = Instant::now();
    let saved = ScheduleFile::read(file)?;
    let here = launch::folder(Path::new("."))?;
    let file = file.canonicalize().unwrap_or_else(|_| here.join(file));
    let (folder, kept) = kept(&file).ok_or_else(|| Error::NotKept(file.clone()))?;
    let deadline = Deadline::never(cancel);
    let root = deadline.in_time(|| trusted_root(&saved, (&file, &here), consent))??;
    let launch = launch(&saved.target, &root)?;
    let is_other = |found: Executable| found.build_id != saved.target.build_id;
    if deadline.in_time(|| preflight::inspect(&launch.program).is_ok_and(is_other))? {
        return Err(Error::Rebuilt(file));
    }
    let plan = Plan { file: &file, saved: &saved, launch: &launch, root: &root, deadline: &deadline };
    let found = plan.replay()?;
    let stall = found.as_ref().and_then(|found| found.trace.stall());
    launch.stalls.allow(stall.map_or(Duration::ZERO, |(_, stall)| Duration::from_nanos(stall.nanos)));
    let launched = launch.start(&deadline.limit())?;
    let program = &launched.program;
    // More may be found than the schedule was made for, by the rule by which it was found.
    let key_points = &saved.found_by.key_points;
    if key_points.unordered_only {
        program.judge_by_events();
    }
    program.know_key_points(&key_points.instructions, &key_points.memory);
    let instead = || entry(&program.executable().path, &launch.arguments, &deadline);
    let session = SearchSession {
        request: &plan.request(),
        name: kept.target.clone(),
        target: saved.target.clone(),
        root: &root,
        store: &Store::at(folder.path())?,
        source: program,
        instead: &instead,
        suppressions: &Suppressions::default(),
        deadline: &deadline,
        stalls: None,
    };
    let context = ReplayContext {
        saved: &saved,
        file: &file,
        root: &root,
        source: program,
        instead: &instead,
        deadline: &deadline,
    };
    let (outcome, notes) = match found {
        Some(found) => {
            end(&session, &ExitAttribution::new(&launched, &launch.arguments), (&found, kept), watch)
        }
        None => (stopped(0), Vec::new()),
    };
    Ok(context.report(outcome, notes, started.elapsed().as_secs_f64()))
}

/// The finding that fails by this schedule, and the folder that keeps it.
fn kept(file: &Path) -> Option<(KeptFolder, KeptFinding)> {
    let folder = KeptFolder::at(file.parent()?.parent()?);
    let kept = folder.finding_of_schedule(file)?;
    (folder.path().join(&kept.schedule) == file).then_some((folder, kept))
}

fn stopped(other: u64) -> ReplayOutcome {
    let ended = "it was stopped, and the schedule is as it was".to_owned();
    ReplayOutcome { finding: None, verdict: Verdict::Inconclusive, ended, events: 0, schedules: 0, other }
}

/// A schedule, with the task for it.
struct Plan<'a> {
    file: &'a Path,
    saved: &'a ScheduleFile,
    launch: &'a Launch,
    root: &'a PathBuf,
    deadline: &'a Deadline,
}

impl Plan<'_> {
    /// Runs the schedule as it was saved; nothing, where that was stopped.
    fn replay(&self) -> Result<Option<search::Finding>, Error> {
        let launched = self.launch.start(&self.deadline.limit())?;
        let program = &launched.program;
        if program.build_id() != self.saved.target.build_id {
            return Err(Error::Rebuilt(self.file.to_owned()));
        }
        let key_points = &self.saved.found_by.key_points;
        program.fix_key_points(&key_points.instructions, &key_points.memory);
        let instead = || entry(&program.executable().path, &self.launch.arguments, self.deadline);
        let (saved, file, root, deadline) = (self.saved, self.file, self.root, self.deadline);
        let context = ReplayContext { saved, file, root, source: program, instead: &instead, deadline };
        let program = ExitAttribution::new(&launched, &self.launch.arguments);
        let run_notes = RunNotes::default();
        let program = Observed::new(&program, saved.target.arguments_in_words(), false, &run_notes);
        let (Some(replayed), _) = context.replayed(&program)? else { return Ok(None) };
        let failure = replayed.failure.ok_or_else(|| Error::Passes(file.to_owned()))?;
        Ok(Some(search::Finding {
            identity: Identity::of(&failure),
            failure,
            preemptions: Some(replayed.trace.preemptions()),
            fewest: saved.failure.fewest,
            delays: Some(replayed.trace.delays()),
            trace: replayed.trace,
            threads: None,
            variables: None,
            schedule_number: saved.found_by.schedule_number,
            executions: 0,
            // The explanation replays it as often.
            reproduced: (2, 2),
            summary: replayed.summary,
            epoch: saved.found_by.epoch,
            always: None,
            outdated: false,
        }))
    }

    /// The search that found it, as far as that matters.
    fn request(&self) -> Request {
        let found_by = &self.saved.found_by;
        Request {
            strategy: Strategy::named(&found_by.strategy).unwrap_or(Strategy::unless_named(false)),
            seed: found_by.seed,
            step_limit: self.saved.target.step_limit,
            explain_time: Duration::MAX,
            effort: Effort::Full,
            ..Request::new(self.launch.program.clone())
        }
    }
}

/// Explains it, and keeps what comes of that.
fn end(
    session: &SearchSession<'_>,
    program: &impl Program,
    (found, kept): (&search::Finding, KeptFinding),
    watch: &mut dyn Watch,
) -> (ReplayOutcome, Vec<String>) {
    let run_notes = RunNotes::default();
    let program = Observed::new(program, session.target.arguments_in_words(), false, &run_notes);
    let mut writer = FindingWriter::new(session.store, session.root, session.name.clone(), &session.target);
    writer.knows(found.identity.clone(), kept.id);
    let mut made = SearchFindings {
        findings: vec![(found.identity.clone(), kept.finding)],
        ..SearchFindings::default()
    };
    let (started, mut last) = (Instant::now(), Instant::now());
    let mut tick = || {
        if last.elapsed() >= PAUSE {
            last = Instant::now();
            watch.progress(&progress(run_notes.executions(), started.elapsed()));
        }
    };
    let mut found = found.clone();
    found.executions = made.findings[0].1.executions;
    let ended = match session.explanation(&program, &found, &mut tick, &mut |_, _| ()) {
        Ok(explained) => {
            session.keep_explained(&program, &explained, (&mut writer, &mut made), watch);
            match explained.minimised {
                true => "the schedule is minimised to the end".to_owned(),
                false => "the schedule is as simple as could be found out".to_owned(),
            }
        }
        Err(ExplanationError::Stopped) if session.deadline.is_cancelled() => {
            return (stopped(run_notes.executions()), Vec::new());
        }
        Err(why) => format!("the schedule is not minimised, because {why}"),
    };
    let finding = made.findings.pop().map(|(_, told)| told);
    let events = finding.as_ref().map_or(0, |told| told.events.len());
    let notes = made.notes.into_iter().chain(run_notes.notes()).collect();
    let other = run_notes.executions();
    (ReplayOutcome { finding, verdict: Verdict::Found, ended, events, schedules: 1, other }, notes)
}

fn progress(executions: u64, time: Duration) -> Progress {
    let schedules_per_second = per_second(executions, time.as_secs_f64());
    Progress { schedules: executions, schedules_per_second, bound: None, findings: 1 }
}
