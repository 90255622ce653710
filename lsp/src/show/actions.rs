//! Code actions on the line of a finding.

use std::path::Path;

use serde_json::{Value, json};
use tower_lsp::ls_types::{CodeAction, CodeActionKind, CodeActionOrCommand, Command, Range, Uri};

use crate::commands::{self, client};
use crate::findings::Finding;
use crate::known::Known;
use crate::show::lenses::{EXPLAIN_LONGER, replay, replay_passing};

/// Code actions for the findings in a part of a file.
pub(crate) fn actions(known: &Known, uri: &Uri, file: &Path, range: Range) -> Vec<CodeActionOrCommand> {
    let lines = range.start.line..=range.end.line;
    let here = known.findings.open().filter(|finding| {
        let spot = finding.at.as_ref().filter(|spot| spot.file == file);
        spot.is_some_and(|spot| lines.contains(&known.texts.now(finding, spot, &known.documents)))
    });
    here.flat_map(|finding| actions_of(known, uri, finding)).map(CodeActionOrCommand::CodeAction).collect()
}

fn actions_of(known: &Known, uri: &Uri, finding: &Finding) -> Vec<CodeAction> {
    let target = known.name_of(&finding.target());
    let mut actions = Vec::new();
    let mut add = |title: &str, command: String, argument: Value| {
        actions.push(action(title, command, argument));
    };
    if let Some(replay) = replay(known, finding) {
        add("Replay the failing interleaving", client::REPLAY.to_owned(), replay);
    }
    if let Some(replay) = replay_passing(known, finding) {
        add("Show a schedule that passes", client::REPLAY.to_owned(), replay);
    }
    if known.settings.may_run() {
        add("Check again", commands::name("check"), json!({ "finding": finding.id }));
        if finding.is_unfinished() {
            add(EXPLAIN_LONGER, commands::name("minimise"), json!({ "finding": finding.id }));
        } else if finding.can_be_minimised() {
            add("Minimise the schedule", commands::name("minimise"), json!({ "finding": finding.id }));
        }
        if finding.is_concurrency_bug() {
            let further = json!({ "target": target, "uri": uri, "further": true });
            add("Explore with one more preemption", commands::name("explore"), further);
        } else if known.settings.runs(client::OPEN_CONFIGURATION) {
            let argument = json!({ "target": target });
            add("Set arguments…", client::OPEN_CONFIGURATION.to_owned(), argument);
        }
    }
    if known.settings.runs(client::COPY_SCHEDULE) {
        let schedule = json!({ "finding": finding.id, "schedule": finding.schedule() });
        add("Copy the schedule", client::COPY_SCHEDULE.to_owned(), schedule);
    }
    add("Show its hints", commands::name("select"), json!({ "finding": finding.id }));
    add("Dismiss this finding", commands::name("dismiss"), json!({ "finding": finding.id }));
    actions
}

fn action(title: &str, command: String, argument: Value) -> CodeAction {
    CodeAction {
        title: title.to_owned(),
        kind: Some(CodeActionKind::QUICKFIX),
        command: Some(Command { title: title.to_owned(), command, arguments: Some(vec![argument]) }),
        ..CodeAction::default()
    }
}
