//! Everything that is known, as the tree of a client shows it, and its status bar.

use std::collections::BTreeMap;

use explorer::discover::Target;
use explorer::escaping::{escaped, escaped_line};
use explorer::report::plural::plural;
use explorer::report::verdict::Verdict;
use explorer::store::findings::KeptTarget;
use serde_json::{Value, json};
use tower_lsp::ls_types::Uri;

use crate::explore::job::{Job, Phase};
use crate::explore::key::Key;
use crate::findings::{Finding, Spot, Step};
use crate::known::Known;
use crate::show::words;

pub(crate) fn tree(known: &Known) -> Value {
    let mut rows: BTreeMap<Key, Option<Target>> = BTreeMap::new();
    for workspace in known.folders.iter().filter_map(|folder| folder.workspace.as_ref()) {
        for target in workspace.listed_targets() {
            rows.entry(Key::of(&target)).or_insert(Some(target));
        }
    }
    for key in known.findings.all().map(Finding::target).chain(known.findings.targets()) {
        rows.entry(key).or_default();
    }
    let targets: Vec<Value> =
        rows.iter().map(|(key, target)| target_row(known, key, target.as_ref())).collect();
    json!({ "targets": targets })
}

fn target_row(known: &Known, key: &Key, target: Option<&Target>) -> Value {
    let kept = known.findings.target(key);
    let at = target.and_then(|target| target.at.as_ref());
    let findings: Vec<Value> =
        known.findings.of_target(key).map(|finding| finding_row(known, finding)).collect();
    json!({
        "id": known.name_of(key),
        "label": escaped_line(target.map_or(key.label(), |target| &target.label)),
        "uri": at.and_then(|at| known.documents.uri(&at.file)).map(text).unwrap_or_default(),
        "line": at.map_or(0, |at| at.line.saturating_sub(1)),
        "state": state_word(known, key, kept),
        "status": escaped_line(&status_words(known, key, kept)),
        "explored": kept.map(|kept| kept.last.at),
        "findings": findings,
    })
}

fn state_word(known: &Known, key: &Key, kept: Option<&KeptTarget>) -> &'static str {
    match (known.jobs.of_target(key), kept) {
        (Some(Job { phase: Phase::Building | Phase::Looking(_), .. }), _) => "building",
        (Some(_), _) => "running",
        _ if known.errors.contains_key(key) => "error",
        _ if known.bugs(key).open > 0 => "found",
        (None, None) => "idle",
        (None, Some(kept)) if kept.last.has_no_threads() => "idle",
        (None, Some(kept)) => match kept.last.verdict {
            Verdict::Clean => "clean",
            Verdict::Found if kept.last.findings.is_empty() => "found",
            // The user has dismissed what was found.
            Verdict::Inconclusive | Verdict::Found => "inconclusive",
        },
    }
}

fn status_words(known: &Known, key: &Key, kept: Option<&KeptTarget>) -> String {
    if let Some(job) = known.jobs.of_target(key) {
        return job.words();
    }
    if let Some(error) = known.errors.get(key) {
        return error.clone();
    }
    kept.map(|kept| words::after(&kept.last, known.bugs(key))).unwrap_or_default()
}

fn finding_row(known: &Known, finding: &Finding) -> Value {
    let kept = &finding.kept;
    let (uri, line) = place(known, finding, finding.at.as_ref());
    let switch = |step: &Step| {
        let (uri, line) = place(known, finding, step.at.as_ref());
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
        "stale": known.texts.is_stale(finding, &known.documents),
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

/// The present place of a place of a finding.
fn place(known: &Known, finding: &Finding, spot: Option<&Spot>) -> (String, u32) {
    let Some(spot) = spot else { return (String::new(), 0) };
    let uri = known.documents.uri(&spot.file).map(text).unwrap_or_default();
    (uri, known.texts.now(finding, spot, &known.documents))
}

/// The line in a status bar.
pub(crate) fn status(known: &Known) -> Value {
    let running: Vec<&Job> = known.jobs.all().collect();
    let bugs = known.findings.open().filter(|finding| finding.is_concurrency_bug()).count();
    let line = match running.as_slice() {
        [] if bugs == 0 => String::new(),
        [] => format!("✗ {}", plural(bugs as u64, "bug")),
        [job] => job.words(),
        several => format!("● {} explorations", several.len()),
    };
    let of_job = |job: &&Job| format!("{}: {}", job.request.label, job.words());
    let tooltip: Vec<String> = running.iter().map(of_job).collect();
    json!({ "text": line, "tooltip": tooltip.join("\n"), "running": running.len() })
}

fn text(uri: Uri) -> String {
    uri.as_str().to_owned()
}
