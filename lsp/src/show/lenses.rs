//! Code lenses: the targets at a line, their progress, and their results.

use std::path::Path;

use explorer::discover::{Explorability, TargetAt, Workspace};
use explorer::escaping::escaped_line;
use serde_json::{Value, json};
use tower_lsp::ls_types::{CodeLens, Command, Position, Range, Uri};

use crate::commands::{self, client};
use crate::explore::job::Job;
use crate::explore::key::Key;
use crate::findings::Finding;
use crate::known::Known;
use crate::show::words;

/// The largest number of programs that are offered one by one to a client that has no list to pick from.
const MOST_PROGRAMS: usize = 3;

const EXPLORE: &str = "▶ Explore interleavings";

pub(crate) const EXPLAIN_LONGER: &str = "Explain longer";

/// All lenses of a file.
pub(crate) fn lenses_of_file(known: &Known, uri: &Uri, file: &Path) -> Vec<CodeLens> {
    let workspace = known.folder_of(file).and_then(|folder| folder.workspace.as_ref());
    let mut lenses = match workspace.filter(|_| known.settings.may_run()) {
        Some(workspace) => FileLenses { known, workspace, uri, file }.all(),
        None => Vec::new(),
    };
    lenses.extend(known.findings.open().filter_map(|finding| replay_lens(known, finding, file)));
    lenses
}

/// Above a failing line.
fn replay_lens(known: &Known, finding: &Finding, file: &Path) -> Option<CodeLens> {
    let spot = finding.at.as_ref().filter(|spot| spot.file == file)?;
    let line = known.texts.now(finding, spot, &known.documents);
    let title = if finding.is_concurrency_bug() { "⏮ Replay" } else { "⏮ Replay the failing run" };
    Some(lens(line, title, Some((client::REPLAY.to_owned(), replay(known, finding)?))))
}

/// Argument of `interleaver.replay`; `None` where the client has no such command.
pub(crate) fn replay(known: &Known, finding: &Finding) -> Option<Value> {
    replay_of(known, finding, &finding.schedule(), false)
}

/// The same for the schedule that passes; `None` where there is none, too.
pub(crate) fn replay_passing(known: &Known, finding: &Finding) -> Option<Value> {
    replay_of(known, finding, &finding.passing()?, true)
}

fn replay_of(known: &Known, finding: &Finding, schedule: &Path, passes: bool) -> Option<Value> {
    known.settings.runs(client::REPLAY).then(|| {
        json!({
            "finding": finding.id,
            "schedule": schedule,
            "passes": passes,
            "program": finding.program(),
            "folder": finding.root,
        })
    })
}

/// The lines of a file above which something can be explored.
struct FileLenses<'a> {
    known: &'a Known,
    workspace: &'a Workspace,
    uri: &'a Uri,
    file: &'a Path,
}

impl FileLenses<'_> {
    fn all(&self) -> Vec<CodeLens> {
        let text = self.known.documents.get(self.file).map(|document| document.text.as_str());
        let targets = self.workspace.targets_of_file(self.file, text);
        if targets.is_empty() {
            return self.users();
        }
        let shares_line = |at: &TargetAt| targets.iter().filter(|other| other.line == at.line).count() > 1;
        targets.iter().flat_map(|at| self.of_target(at, shares_line(at))).collect()
    }

    /// The file itself has neither `main` nor tests.
    fn users(&self) -> Vec<CodeLens> {
        let users = self.workspace.programs_using(self.file);
        if !users.is_empty() && self.known.settings.runs(client::PICK_PROGRAM) {
            let pick = (client::PICK_PROGRAM.to_owned(), json!({ "uri": self.uri }));
            return vec![lens(0, "Explore a program that uses this file…", Some(pick))];
        }
        let own = |target: explorer::discover::Target| {
            let explore = json!({ "target": self.known.name_of(&Key::of(&target)), "uri": self.uri });
            lens(
                0,
                &format!("▶ Explore `{}`, which uses this file", target.label),
                server("explore", explore),
            )
        };
        users.into_iter().take(MOST_PROGRAMS).map(own).collect()
    }

    /// The lenses of a target. If several can be explored from one line, each one's first lens says which it is.
    fn of_target(&self, at: &TargetAt, shares_line: bool) -> Vec<CodeLens> {
        let mut lenses = self.of_standing(at);
        let label = at.target.as_ref().filter(|_| shares_line).map(|target| &target.label);
        if let (Some(label), Some(command)) =
            (label, lenses.first_mut().and_then(|lens| lens.command.as_mut()))
        {
            command.title.push_str(&format!(" · {}", escaped_line(label)));
        }
        lenses
    }

    fn of_standing(&self, at: &TargetAt) -> Vec<CodeLens> {
        let line = at.line.saturating_sub(1);
        let by_name = || self.known.jobs.of_place(self.file, &at.name);
        let target = at.target.as_ref().map(Key::of);
        if let Some(job) = target.as_ref().and_then(|key| self.known.jobs.of_target(key)).or_else(by_name) {
            return self.running(line, job);
        }
        match (&at.why, &target) {
            (Explorability::Blocked { sentence }, _) => vec![self.warning(line, sentence)],
            (Explorability::NotBuilt { sentence }, _) => self.not_built(at, line, sentence),
            (Explorability::Ready, Some(key)) => self.of_ready(key, line, ""),
            (Explorability::Stale { source }, Some(key)) => self.of_ready(key, line, &self.stale(at, source)),
            (Explorability::Ready | Explorability::Stale { .. }, None) => Vec::new(),
        }
    }

    fn warning(&self, line: u32, sentence: &str) -> CodeLens {
        let why = (client::WHY_NO_LENS.to_owned(), json!({ "uri": self.uri, "line": line }));
        let why = Some(why).filter(|(command, _)| self.known.settings.runs(command));
        lens(line, &format!("⚠ {sentence}"), why)
    }

    fn not_built(&self, at: &TargetAt, line: u32, sentence: &str) -> Vec<CodeLens> {
        let fruitless = self.known.fruitless_builds.get(self.file);
        let build = self.workspace.build_step_of_file(self.file).map(|_| {
            let explore = json!({ "uri": self.uri, "name": at.name });
            lens(line, "▶ Build, then explore interleavings", server("explore", explore))
        });
        let why = fruitless.map(String::as_str).or_else(|| build.is_none().then_some(sentence));
        let why = why.map(|why| self.warning(line, why));
        let configures = self.known.settings.runs(client::OPEN_CONFIGURATION);
        let set = why.as_ref().filter(|_| configures).map(|_| {
            let set = (client::OPEN_CONFIGURATION.to_owned(), json!({ "uri": self.uri }));
            lens(line, "Set the build command…", Some(set))
        });
        why.into_iter().chain(build).chain(set).collect()
    }

    /// The words for a program that is older than this source, with the effect of a click.
    fn stale(&self, at: &TargetAt, source: &Path) -> String {
        let step = at.target.as_ref().and_then(|target| self.workspace.build_step(target));
        let then = if step.is_some() { "builds first" } else { "explored as it is" };
        format!(" (stale: `{}` is newer, {then})", file_name(source))
    }

    fn of_ready(&self, key: &Key, line: u32, stale: &str) -> Vec<CodeLens> {
        let known = self.known;
        let name = known.name_of(key);
        let command = |extra: Value| {
            let mut argument = json!({ "target": name, "uri": self.uri });
            if let (Some(argument), Value::Object(extra)) = (argument.as_object_mut(), extra) {
                argument.extend(extra);
            }
            server("explore", argument)
        };
        let explore = |title: &str| lens(line, &format!("{title}{stale}"), command(json!({})));
        if let Some(error) = known.error_of(key) {
            return vec![self.warning(line, error), explore(EXPLORE)];
        }
        let open: Vec<&Finding> = known.findings.of_target(key).filter(|finding| finding.is_open()).collect();
        let kept = known.findings.target(key);
        let Some(kept) = kept else {
            let mut lenses = vec![explore(EXPLORE)];
            lenses.extend(self.of_finding(line, &name, &open));
            return lenses;
        };
        let after = words::after(&kept.last, known.bugs(key));
        let mut lenses = match open.first() {
            Some(first) => vec![lens(line, &after, self.show(&name, first))],
            None => vec![explore(&after)],
        };
        lenses.extend(self.of_finding(line, &name, &open));
        lenses.extend((!open.is_empty()).then(|| explore("Explore again")));
        let is_dismissed = open.is_empty() && !kept.last.findings.is_empty();
        let restore =
            || lens(line, "Restore what was dismissed", server("restore", json!({ "target": name })));
        lenses.extend(is_dismissed.then(restore));
        let is_bug = open.is_empty() || open.iter().any(|finding| finding.is_concurrency_bug());
        let goes_on = is_bug && !kept.last.has_no_threads();
        lenses.extend(goes_on.then(|| lens(line, "Explore further", command(json!({ "further": true })))));
        lenses
    }

    /// The lenses of a running job. The failures found by now can be looked at while the rest is looked for.
    fn running(&self, line: u32, job: &Job) -> Vec<CodeLens> {
        let key = job.request.target.as_ref();
        let open = || {
            let of_target = key.into_iter().flat_map(|key| self.known.findings.of_target(key));
            of_target.filter(|finding| finding.is_open())
        };
        let found = open().find(|finding| job.has_found(&finding.kept.id)).or_else(|| open().next());
        let show = found.zip(key).and_then(|(found, key)| self.show(&self.known.name_of(key), found));
        let cancel = lens(line, "Cancel", server("cancel", json!({ "job": job.id })));
        let replay = found.and_then(|found| self.replay_lens(line, found));
        [lens(line, &job.words(), show)].into_iter().chain(replay).chain([cancel]).collect()
    }

    /// Leads to a finding of a target, or, in a client that lets its user choose, to any of them.
    fn show(&self, target: &str, first: &Finding) -> Option<(String, Value)> {
        if self.known.settings.runs(client::SHOW_FINDING) {
            let argument = json!({ "target": target, "finding": first.id });
            return Some((client::SHOW_FINDING.to_owned(), argument));
        }
        server("show", json!({ "finding": first.id }))
    }

    fn replay_lens(&self, line: u32, finding: &Finding) -> Option<CodeLens> {
        let replay = replay(self.known, finding)?;
        Some(lens(line, "Replay", Some((client::REPLAY.to_owned(), replay))))
    }

    /// The lenses for the failures of a target: about the first of them.
    fn of_finding(&self, line: u32, target: &str, open: &[&Finding]) -> Vec<CodeLens> {
        let Some(first) = open.first() else { return Vec::new() };
        let replay = self.replay_lens(line, first);
        let check = lens(line, "Check again", server("check", json!({ "finding": first.id })));
        let set = !first.is_concurrency_bug() && self.known.settings.runs(client::OPEN_CONFIGURATION);
        let set = set.then(|| {
            let argument = json!({ "target": target });
            lens(line, "Set arguments…", Some((client::OPEN_CONFIGURATION.to_owned(), argument)))
        });
        let longer = first
            .is_unfinished()
            .then(|| lens(line, EXPLAIN_LONGER, server("minimise", json!({ "finding": first.id }))));
        replay.into_iter().chain(longer).chain([check]).chain(set).collect()
    }
}

fn server(short: &str, argument: Value) -> Option<(String, Value)> {
    Some((commands::name(short), argument))
}

/// A lens without a command is shown, and does nothing.
fn lens(line: u32, title: &str, command: Option<(String, Value)>) -> CodeLens {
    let (command, arguments) = match command {
        Some((command, argument)) => (command, Some(vec![argument])),
        None => (String::new(), None),
    };
    let command = Command { title: escaped_line(title).into_owned(), command, arguments };
    let at = Position::new(line, 0);
    CodeLens { range: Range::new(at, at), command: Some(command), data: None }
}

fn file_name(file: &Path) -> String {
    file.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
