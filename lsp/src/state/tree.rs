//! Everything that is known, as the tree of a client shows it, and its status bar.

use std::collections::BTreeMap;

use explorer::discover::Target;
use explorer::report::plural::plural;
use explorer::report::verdict::Verdict;
use explorer::shown::{escaped, escaped_line};
use explorer::store::findings::KeptTarget;
use serde_json::{Value, json};
use tower_lsp::ls_types::Uri;

use super::State;
use crate::findings::{Finding, Spot, Step};
use crate::job::{Job, Phase};
use crate::key::Key;
use crate::words::{self, Bugs};

impl State {
    /// What is known of a target's bugs.
    pub(crate) fn bugs(&self, target: &Key) -> Bugs {
        let open: Vec<&Finding> =
            self.findings.of_target(target).filter(|finding| finding.is_open()).collect();
        Bugs {
            open: open.len(),
            preemptions: open.iter().filter_map(|finding| finding.kept.finding.preemptions).min(),
            always: !open.is_empty() && !open.iter().any(|finding| finding.is_concurrency_bug()),
        }
    }

    /// Why a target could not be explored the last time.
    pub(crate) fn trouble_of(&self, target: &Key) -> Option<&str> {
        self.troubles.get(target).map(String::as_str)
    }

    pub(super) fn tree(&self) -> Value {
        let mut known: BTreeMap<Key, Option<Target>> = BTreeMap::new();
        for workspace in self.folders.iter().filter_map(|folder| folder.workspace.as_ref()) {
            for target in workspace.listed_targets() {
                known.entry(Key::of(&target)).or_insert(Some(target));
            }
        }
        for key in self.findings.all().map(Finding::target).chain(self.findings.targets()) {
            known.entry(key).or_default();
        }
        let targets: Vec<Value> =
            known.iter().map(|(key, target)| self.target_row(key, target.as_ref())).collect();
        json!({ "targets": targets })
    }

    fn target_row(&self, key: &Key, target: Option<&Target>) -> Value {
        let kept = self.findings.target(key);
        let at = target.and_then(|target| target.at.as_ref());
        let findings: Vec<Value> =
            self.findings.of_target(key).map(|finding| self.finding_row(finding)).collect();
        json!({
            "id": self.name_of(key),
            "label": escaped_line(target.map_or(key.label(), |target| &target.label)),
            "uri": at.and_then(|at| self.documents.uri(&at.file)).map(text).unwrap_or_default(),
            "line": at.map_or(0, |at| at.line.saturating_sub(1)),
            "state": self.state_word(key, kept),
            "status": escaped_line(&self.status_words(key, kept)),
            "explored": kept.map(|kept| kept.last.at),
            "findings": findings,
        })
    }

    fn state_word(&self, key: &Key, kept: Option<&KeptTarget>) -> &'static str {
        match (self.jobs.of_target(key), kept) {
            (Some(Job { phase: Phase::Building | Phase::Looking(_), .. }), _) => "building",
            (Some(_), _) => "running",
            _ if self.troubles.contains_key(key) => "error",
            _ if self.bugs(key).open > 0 => "found",
            (None, None) => "idle",
            (None, Some(kept)) => match kept.last.verdict {
                Verdict::Clean => "clean",
                Verdict::Found if kept.last.findings.is_empty() => "found",
                // Somebody has dismissed what was found.
                Verdict::Inconclusive | Verdict::Found => "inconclusive",
            },
        }
    }

    fn status_words(&self, key: &Key, kept: Option<&KeptTarget>) -> String {
        if let Some(job) = self.jobs.of_target(key) {
            return job.words();
        }
        if let Some(trouble) = self.troubles.get(key) {
            return trouble.clone();
        }
        kept.map(|kept| words::after(&kept.last, self.bugs(key))).unwrap_or_default()
    }

    fn finding_row(&self, finding: &Finding) -> Value {
        let kept = &finding.kept;
        let (uri, line) = self.place(finding, finding.at.as_ref());
        let switch = |step: &Step| {
            let (uri, line) = self.place(finding, step.at.as_ref());
            json!({
                "number": step.number,
                "text": escaped_line(&step.text),
                "uri": uri,
                "line": line,
                "thread": step.thread,
            })
        };
        json!({
            "id": finding.id,
            "kind": finding.kind(),
            "message": escaped(&kept.finding.message),
            "uri": uri,
            "line": line,
            "preemptions": kept.finding.preemptions.unwrap_or_default(),
            "fewest": kept.finding.fewest,
            "stale": self.texts.is_stale(finding, &self.documents),
            "found": kept.found,
            "fixed": kept.fixed,
            "checked": kept.checked.as_ref().map(|checked| &checked.words),
            "schedule": finding.schedule(),
            "passing": finding.passing(),
            "program": finding.program(),
            "folder": finding.root,
            "switches": finding.switches.iter().map(switch).collect::<Vec<_>>(),
        })
    }

    /// Where a place of a finding is now.
    fn place(&self, finding: &Finding, spot: Option<&Spot>) -> (String, u32) {
        let Some(spot) = spot else { return (String::new(), 0) };
        let uri = self.documents.uri(&spot.file).map(text).unwrap_or_default();
        (uri, self.texts.now(finding, spot, &self.documents))
    }

    /// The line in a status bar.
    pub(super) fn status(&self) -> Value {
        let running: Vec<&Job> = self.jobs.all().collect();
        let bugs = self.findings.open().filter(|finding| finding.is_concurrency_bug()).count();
        let line = match running.as_slice() {
            [] if bugs == 0 => String::new(),
            [] => format!("✗ {}", plural(bugs as u64, "bug")),
            [job] => job.words(),
            several => format!("● {} explorations", several.len()),
        };
        let of_job = |job: &&Job| format!("{}: {}", job.wish.label, job.words());
        let tooltip: Vec<String> = running.iter().map(of_job).collect();
        json!({ "text": line, "tooltip": tooltip.join("\n"), "running": running.len() })
    }
}

fn text(uri: Uri) -> String {
    uri.as_str().to_owned()
}
