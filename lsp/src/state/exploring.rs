//! Exploring, checking again: from a click to the end of its job.

use std::path::Path;
use std::time::Duration;

use explorer::config;
use explorer::discover::{Explorability, Target};
use explorer::input::request::Request;
use explorer::report::plural::plural;
use explorer::store::findings::{CheckResult, last_words};
use explorer::verbs::json_lines::Line;
use tower_lsp::ls_types::{MessageType, ProgressToken, Uri};

use super::{State, progress};
use crate::commands::{Cancel, Explore};
use crate::documents;
use crate::explore::exploration::{End, Exploration, arguments};
use crate::explore::job::{ExploreRequest, Job, Phase, Purpose};
use crate::explore::key::Key;
use crate::known::shown;
use crate::outbox::Changed;
use crate::refusals::{NO_FOLDER, NOT_LOOKED_AT, NOT_TRUSTED, no_finding, no_target};

/// Factor by which the budget grows each time that the user asks to go further.
const MORE: u32 = 4;

impl State {
    /// # Errors
    /// A sentence.
    pub(super) fn explore(&mut self, wanted: &Explore) -> Result<u64, String> {
        let mut request = self.request(wanted)?;
        if let Some(key) = request.target.clone() {
            let budget_level =
                if wanted.further { self.budget_level.get(&key).copied().unwrap_or(0) + 1 } else { 0 };
            self.budget_level.insert(key, budget_level);
            request.purpose = Purpose::Explore { budget_level };
        }
        self.start(request)
    }

    /// # Errors
    /// A sentence.
    pub(super) fn check(&mut self, finding: &str) -> Result<u64, String> {
        self.start_for(finding, Purpose::Check { finding: finding.to_owned() })
    }

    /// # Errors
    /// A sentence.
    pub(super) fn minimise(&mut self, finding: &str) -> Result<u64, String> {
        self.start_for(finding, Purpose::Minimise { finding: finding.to_owned() })
    }

    fn start_for(&mut self, finding: &str, purpose: Purpose) -> Result<u64, String> {
        if !self.known.settings.may_run() {
            return Err(NOT_TRUSTED.to_owned());
        }
        let found = self.known.findings.get(finding).ok_or_else(|| no_finding(finding))?;
        let key = found.target();
        let request = self.request_for(key, purpose)?;
        self.start(request)
    }

    /// For a target that the store knows. The last look may have come while the program was linked again, when there was none;
    /// the look that a job begins with sees whether it is there.
    fn request_for(&self, key: Key, purpose: Purpose) -> Result<ExploreRequest, String> {
        let folder = self.known.folder_with(&key).ok_or_else(|| no_target(&key.id))?;
        let label = key.label().to_owned();
        Ok(ExploreRequest { folder, target: Some(key), location: None, label, purpose })
    }

    /// Finds the target, or the place in a source, that a client asks to explore.
    fn request(&self, wanted: &Explore) -> Result<ExploreRequest, String> {
        if !self.known.settings.may_run() {
            return Err(NOT_TRUSTED.to_owned());
        }
        let file = wanted.uri.as_ref().and_then(documents::path);
        let location = file.clone().zip(wanted.name.clone());
        let purpose = Purpose::Explore { budget_level: 0 };
        match (&wanted.target, &location) {
            (Some(id), _) => {
                let Some((folder, target)) = self.known.target(id, file.as_deref()) else {
                    let key = self.known.explored_before(id).ok_or_else(|| no_target(id))?;
                    return self.request_for(key, purpose);
                };
                if let Some(sentence) = target.test.as_ref().and_then(|test| test.ambiguity.clone()) {
                    return Err(sentence);
                }
                Ok(ExploreRequest {
                    folder,
                    target: Some(Key::of(&target)),
                    location,
                    label: target.label,
                    purpose,
                })
            }
            (None, Some((file, name))) => {
                let folder = self.known.folder_of(file).ok_or("the file lies outside of the workspace")?;
                let label = name.clone();
                Ok(ExploreRequest { folder: folder.path.clone(), target: None, location, label, purpose })
            }
            (None, None) => Err("say what to explore: a target, or a file and a name in it".to_owned()),
        }
    }

    /// Begins a job, with a build where that is needed; one that is under way already is not begun again.
    fn start(&mut self, request: ExploreRequest) -> Result<u64, String> {
        let of_target = request.target.as_ref().and_then(|target| self.known.jobs.of_target(target));
        let of_place =
            || request.location.as_ref().and_then(|(file, name)| self.known.jobs.of_place(file, name));
        if let Some(job) = of_target.or_else(of_place) {
            return Ok(job.id);
        }
        if self.known.workspace(&request.folder).is_none() {
            return Err(NOT_LOOKED_AT.to_owned());
        }
        // The knowledge of the programs there may be older than they are.
        let number = self.look_at(&request.folder).ok_or(NO_FOLDER)?;
        if let Some(key) = &request.target {
            self.known.errors.remove(key);
        }
        if let Some((file, _)) = &request.location {
            self.known.fruitless_builds.remove(file);
        }
        let known_build = self.known.build_step(&request);
        let id = self.known.jobs.add(request, Phase::Looking(number));
        self.known.jobs.get_mut(id).into_iter().for_each(|job| job.known_build = known_build.clone());
        if self.shows_progress {
            progress::show(&self.context, id);
        }
        self.changed(Changed { lenses: true, hints: false, tree: true });
        Ok(id)
    }

    /// The folder of a job is known as it is now: its program is built where that is needed, then it runs.
    pub(super) fn looked_for(&mut self, id: u64) {
        match self.first_build(id) {
            Some(build) => self.build(id, build),
            None => self.explore_now(id),
        }
    }

    /// The program is as fresh as it gets.
    pub(super) fn explore_now(&mut self, id: u64) {
        let Some(request) = self.known.jobs.get_mut(id).map(|job| job.request.clone()) else { return };
        let resolved = self.resolve(&request);
        let Some(job) = self.known.jobs.get_mut(id) else { return };
        match resolved {
            Ok(target) => {
                job.request.target = Some(Key::of(&target));
                if self.is_fit_for(id) {
                    self.warn_if_stale(&request, &target);
                    self.run(id, &request, &target);
                }
            }
            Err(sentence) => {
                let fruitless = job.built_by.clone().and_then(|command| self.fruitless(&request, &command));
                if let (Some(sentence), Some((file, _))) = (&fruitless, request.location) {
                    self.known.fruitless_builds.insert(file, sentence.clone());
                }
                self.fail(id, fruitless.unwrap_or(sentence));
            }
        }
    }

    /// The sentence for a build that has succeeded, and made nothing of what was to be explored.
    fn fruitless(&self, request: &ExploreRequest, command: &str) -> Option<String> {
        let (file, name) = request.location.as_ref().filter(|_| request.target.is_none())?;
        let workspace = self.known.workspace(&request.folder)?;
        let text = self.known.documents.text(file);
        let targets = workspace.targets_of_file(file, text.as_deref());
        let at = targets.into_iter().find(|at| at.name == *name)?;
        let is_listed = workspace.candidates().iter().any(|candidate| candidate.lists(file));
        let name = if is_listed { format!(" with `{name}`") } else { String::new() };
        let file = shown(file, &request.folder);
        matches!(at.why, Explorability::NotBuilt { .. }).then(|| {
            format!(
                "the build `{command}` has made no program of `{file}`{name}: say how it is built, as `build = \"…\"` in \
                 interleaver.toml"
            )
        })
    }

    fn resolve(&self, request: &ExploreRequest) -> Result<Target, String> {
        let workspace = self.known.workspace(&request.folder).ok_or(NOT_LOOKED_AT)?;
        if let Some(key) = &request.target {
            return workspace.target_in(&key.id, &key.root).ok_or_else(|| no_target(&key.id));
        }
        let Some((file, name)) = &request.location else { return Err(no_target("")) };
        let text = self.known.documents.text(file);
        let found = workspace.targets_of_file(file, text.as_deref());
        let found = found.into_iter().find(|at| at.name == *name);
        match found.map(|at| (at.target, at.why)) {
            Some((Some(target), _)) => Ok(target),
            Some((None, why)) => Err(why.sentence().unwrap_or_else(|| no_target(name))),
            None => Err(workspace.why_not(file, text.as_deref(), None)),
        }
    }

    /// Warns that a program is explored as it is although a source is newer: building it again changes nothing, or is not known
    /// how to do.
    fn warn_if_stale(&self, request: &ExploreRequest, target: &Target) {
        let workspace = self.known.workspace(&request.folder);
        let candidates = workspace.iter().flat_map(|workspace| workspace.candidates());
        let mut programs = candidates.filter(|candidate| candidate.path == target.program);
        if let Some(source) = programs.find_map(|program| program.newer_source().map(Path::to_owned)) {
            let (program, source) =
                (shown(&target.program, &request.folder), shown(&source, &request.folder));
            let sentence = format!("`{program}` is explored as it is, and is older than `{source}`");
            self.show(MessageType::WARNING, sentence);
        }
    }

    fn run(&mut self, id: u64, request: &ExploreRequest, target: &Target) {
        let (verb, arguments) = match &request.purpose {
            Purpose::Minimise { finding } => {
                let schedule =
                    self.known.findings.get(finding).map(|found| found.schedule().into_os_string());
                let trust = self.known.settings.is_trusted().then(|| "--trust".into());
                ("minimise", trust.into_iter().chain(schedule).collect())
            }
            purpose => ("explore", arguments(&self.explorer_request(target, purpose), &target.id)),
        };
        let (tool, directory) = (self.context.tool.clone(), request.folder.clone());
        let exploration = Exploration { tool, verb, arguments, directory };
        let Some(job) = self.known.jobs.get_mut(id) else { return };
        job.phase = Phase::Running;
        let Some(cancelled) = job.next_part() else {
            self.end(id);
            return;
        };
        let mailbox = self.context.mailbox.clone();
        self.context.runtime.spawn(async move {
            let tell = |line: Line| {
                mailbox.send(move |state| state.job_says(id, line));
            };
            let end = exploration.run(cancelled, tell).await;
            let broken = |error| End::Broken(format!("the exploration cannot be started: {error}"));
            let end = end.unwrap_or_else(broken);
            mailbox.send(move |state| state.job_ends(id, end));
        });
    }

    fn explorer_request(&self, target: &Target, purpose: &Purpose) -> Request {
        let budget = self.known.settings.budget;
        let defaults = config::Settings {
            max_preemptions: Some(budget.max_preemptions),
            max_schedules: Some(budget.max_schedules),
            time_limit: Some(Duration::from_secs(budget.time_limit_seconds.max(1))),
            ..config::Settings::default()
        };
        let mut request = target.request(&defaults);
        request.keep_going = true;
        match purpose {
            Purpose::Explore { budget_level } => {
                request.max_preemptions += budget_level;
                request.max_delays += budget_level;
                let more = MORE.saturating_pow(*budget_level);
                request.max_schedules = request.max_schedules.saturating_mul(more.into());
                request.time_limit = request.time_limit.saturating_mul(more);
            }
            Purpose::Check { finding } => {
                if let Some(found) = self.known.findings.get(finding) {
                    if found.is_concurrency_bug() {
                        found.kept.run.give(&mut request, &found.root);
                    }
                    found.kept.look_again(&mut request);
                }
            }
            // Nothing is searched.
            Purpose::Minimise { .. } => {}
        }
        request
    }

    pub(super) fn cancel(&mut self, request: &Cancel) -> bool {
        let is_named = |job: &&Job| {
            let name = job.request.target.as_ref().map(|key| self.known.name_of(key));
            name.is_some() && name == request.target
        };
        let meant = match request {
            Cancel { job: None, target: None } => self.known.jobs.only(),
            Cancel { job: Some(id), .. } => Some(*id),
            Cancel { .. } => self.known.jobs.all().find(is_named).map(|job| job.id),
        };
        meant.is_some_and(|id| self.cancel_job(id))
    }

    /// Says whether it was under way.
    pub(crate) fn cancel_job(&mut self, id: u64) -> bool {
        let Some(job) = self.known.jobs.get_mut(id) else { return false };
        job.cancel();
        if matches!(job.phase, Phase::Looking(_)) {
            self.end(id);
        }
        true
    }

    fn job_says(&mut self, id: u64, line: Line) {
        let Some(job) = self.known.jobs.get_mut(id) else { return };
        let has_found = job.take(&line);
        match line {
            Line::Progress(_) => {
                progress::report(&mut self.known.jobs, &self.context.outbox, id);
                self.changed(Changed { lenses: true, hints: false, tree: true });
            }
            Line::Finding { .. } if has_found => {
                self.look_at_stores();
                self.publish();
                self.changed(Changed::ALL);
            }
            Line::Error { message } => self.report_error(id, message),
            Line::Finding { .. } | Line::Report { .. } => {}
        }
    }

    fn job_ends(&mut self, id: u64, end: End) {
        if let End::Broken(sentence) = end {
            self.report_error(id, sentence);
        }
        self.look_at_stores();
        if let Some(job) = self.end(id) {
            self.tell_result(&job);
        }
    }

    fn tell_result(&self, job: &Job) {
        match &job.request.purpose {
            Purpose::Check { finding } => self.tell_whether_fixed(job, finding),
            Purpose::Minimise { finding } => self.tell_whether_minimised(job, finding),
            Purpose::Explore { .. } => {}
        }
    }

    fn tell_whether_minimised(&self, job: &Job, finding: &str) {
        let finding = self.known.findings.get(finding).filter(|_| job.has_result());
        if let Some(finding) = finding {
            let preemptions = finding.kept.finding.preemptions.unwrap_or_default();
            let told = match finding.can_be_minimised() {
                false => {
                    format!("the schedule is minimised, with {}", plural(preemptions.into(), "preemption"))
                }
                true => "the schedule could not be minimised to the end".to_owned(),
            };
            self.show(MessageType::INFO, format!("{}: {told}", job.request.label));
        }
    }

    fn tell_whether_fixed(&self, job: &Job, finding: &str) {
        let finding = self.known.findings.get(finding).filter(|_| job.has_result());
        let target = finding.and_then(|finding| self.known.findings.target(&finding.target()));
        if let Some((finding, target)) = finding.zip(target) {
            let checked = last_words(&finding.kept, &target.last);
            let kind = match checked.result {
                CheckResult::Fixed => MessageType::INFO,
                CheckResult::StillFails | CheckResult::Inconclusive => MessageType::WARNING,
            };
            self.show(kind, format!("{}: {}", job.request.label, checked.words));
        }
    }

    pub(super) fn fail(&mut self, id: u64, sentence: String) {
        self.report_error(id, sentence);
        self.end(id);
    }

    /// It cannot be done, for a reason that was said already.
    pub(super) fn refuse(&mut self, id: u64, sentence: &str) {
        self.remember_error(id, sentence);
        self.end(id);
    }

    /// It could not do its work: said now, and kept for the lens and the tree.
    fn report_error(&mut self, id: u64, sentence: String) {
        if self.remember_error(id, &sentence) {
            self.show(MessageType::ERROR, sentence);
        }
    }

    /// Says whether there is such a job.
    fn remember_error(&mut self, id: u64, sentence: &str) -> bool {
        let Some(job) = self.known.jobs.get_mut(id) else { return false };
        if let Some(target) = job.request.target.clone() {
            self.known.errors.insert(target, sentence.to_owned());
        }
        true
    }

    pub(super) fn end(&mut self, id: u64) -> Option<Job> {
        let job = self.known.jobs.remove(id)?;
        progress::end(&self.context.outbox, &job);
        self.publish();
        self.changed(Changed::ALL);
        Some(job)
    }

    /// The programs that use a file.
    pub(super) fn programs(&self, uri: &Uri) -> serde_json::Value {
        let file = documents::path(uri);
        let folder = file.as_ref().and_then(|file| self.known.folder_of(file));
        let workspace = folder.and_then(|folder| folder.workspace.as_ref());
        let found = workspace.zip(file.as_ref()).map(|(workspace, file)| workspace.programs_using(file));
        let choice = |target: Target| {
            let program = folder.map(|folder| shown(&target.program, &folder.path)).unwrap_or_default();
            let name = self.known.name_of(&Key::of(&target));
            serde_json::json!({ "target": name, "label": target.label, "detail": program })
        };
        found.into_iter().flatten().map(choice).collect()
    }

    /// A client wants the work of a token to end.
    pub(crate) fn progress_cancelled(&mut self, cancelled: &ProgressToken) {
        let job = self.known.jobs.all().map(|job| job.id).find(|id| progress::token(*id) == *cancelled);
        job.map(|job| self.cancel_job(job));
    }
}
