//! The code action that brings the schedule of a finding to its end.

use std::path::Path;

use serde_json::{Value, json};
use tests::editor::{Editor, uri};

use crate::exploring::explore;
use crate::findings::showing::hints;
use crate::workspace::{Workspace, line_of};

const ACTION: &str = "Explain longer";

/// A random search runs a few schedules, and there is no time to look for a simpler one.
const HURRIED: &str = "strategy = \"random\"\nseed = 1\nmax-schedules = 20\nexplain-time = \"1us\"\n";

/// The command behind the action on a line, if it is offered.
fn action(editor: &mut Editor, source: &Path, line: usize) -> Option<Value> {
    let at = json!({ "line": line, "character": 0 });
    let params = json!({
        "textDocument": { "uri": uri(source) }, "range": { "start": at, "end": at }, "context": { "diagnostics": [] },
    });
    let actions = editor.request("textDocument/codeAction", params);
    let action = actions.as_array().unwrap().iter().find(|action| action["title"] == ACTION)?;
    Some(action["command"].clone())
}

#[test]
fn a_schedule_that_may_be_simpler_is_minimised_by_an_action() {
    let workspace = Workspace::with(&["spin_flag"]);
    workspace.put("interleaver.toml", HURRIED);
    let source = workspace.file("spin_flag.c");
    let mut editor = workspace.editor();
    let tree = explore(&mut editor, &source);
    let id = Path::new(tree["targets"][0]["findings"][0]["id"].as_str().unwrap()).to_owned();
    let schedule = id.with_file_name("schedules").join(id.file_name().unwrap()).with_extension("json");
    let found = std::fs::read(&schedule).unwrap();
    let [one] = &editor.diagnostics(&source)[..] else { panic!("{:#?}", editor.diagnostics(&source)) };
    let line = one["range"]["start"]["line"].as_u64().unwrap() as usize;
    let message = one["message"].as_str().unwrap();
    assert!(message.contains("\nnot found out in 1 µs"), "{message}");
    editor.lens(&source, "✗ 1 bug · ≤ ");
    let lens = editor.lens(&source, ACTION);
    let of_lens = lens["command"].clone();
    let before = hints(&mut editor, &source);
    let command = action(&mut editor, &source, line).expect("nobody has looked for a simpler one");
    assert_eq!((&of_lens["command"], &of_lens["arguments"]), (&command["command"], &command["arguments"]));
    let job = editor.execute(command["command"].as_str().unwrap(), command["arguments"][0].clone());
    assert!(job["job"].is_u64(), "{job}");
    editor.wait_for_method("window/showMessage", |told| {
        told["message"] == "spin_flag: the schedule is minimised, with 2 preemptions"
    });
    let lost = line_of(&source, "tickets_sold++");
    let sentence = format!(" reads `tickets_sold` (spin_flag.c:{})", lost + 1);
    let explained = editor.settled_diagnostics(&source, |diagnostics| {
        diagnostics.iter().any(|one| one["message"].as_str().is_some_and(|told| told.contains(&sentence)))
    });
    assert_eq!(explained.len(), 1, "{explained:#?}");
    let after = hints(&mut editor, &source);
    assert_ne!(before, after);
    assert!(after.contains(&(line as u64, "bug depth 3 · 2 preemptions".to_owned())), "{after:?}");
    assert_eq!(action(&mut editor, &source, line), None, "it is as simple as it gets");
    assert_eq!(std::fs::read(schedule.with_extension("original.json")).unwrap(), found);
    editor.end();
}
