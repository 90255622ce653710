//! Hints, hovers and actions of a finding, and what a client hears that switches them off.

use std::path::Path;

use serde_json::{Value, json};
use tests::editor::{Editor, uri};

use crate::exploring::explore;
use crate::workspace::{Workspace, as_extension, line_of};

/// The hints of a file: line and label.
pub(crate) fn hints(editor: &mut Editor, file: &Path) -> Vec<(u64, String)> {
    let range = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 9999, "character": 0 } });
    let params = json!({ "textDocument": { "uri": uri(file) }, "range": range });
    let found = editor.request("textDocument/inlayHint", params);
    let hint = |hint: &Value| {
        let label = hint["label"].as_str().unwrap();
        assert!(label.chars().count() <= 28, "{label}");
        assert!(hint["tooltip"]["value"].as_str().unwrap().contains("*Preemption*"), "{hint}");
        (hint["position"]["line"].as_u64().unwrap(), label.to_owned())
    };
    found.as_array().unwrap().iter().map(hint).collect()
}

#[test]
fn hints_say_how_deep_the_bug_is_and_where_threads_were_preempted() {
    let workspace = Workspace::with(&["lost_update"]);
    let source = workspace.file("lost_update.c");
    let mut editor = workspace.editor();
    explore(&mut editor, &source);
    let (failing, racing) = (line_of(&source, "assert(page_views"), line_of(&source, "    page_views++;"));
    let expected = [
        (failing as u64, "bug depth 2 · 1 preemption".to_owned()),
        (racing as u64, "⇄ T2 runs here (1 of 1)".to_owned()),
    ];
    assert_eq!(hints(&mut editor, &source), expected);
    for (switched_off, left) in [("hints", 1), ("switchHints", 0)] {
        let options = json!({ "interleaver": { switched_off: false } });
        editor.notify("workspace/didChangeConfiguration", json!({ "settings": options }));
        assert_eq!(hints(&mut editor, &source), expected[left..=left]);
    }
    editor.notify(
        "workspace/didChangeConfiguration",
        json!({ "settings": { "interleaver": { "lenses": false } } }),
    );
    assert_eq!(editor.lens_titles(&source), [] as [&str; 0]);
    editor.end();
}

#[test]
fn a_hover_says_what_every_thread_was_doing() {
    let workspace = Workspace::with(&["lost_update"]);
    let source = workspace.file("lost_update.c");
    let mut editor = workspace.editor();
    explore(&mut editor, &source);
    let mut hover = |line: usize| {
        let position = json!({ "line": line, "character": 6 });
        let params = json!({ "textDocument": { "uri": uri(&source) }, "position": position });
        editor.request("textDocument/hover", params)["contents"]["value"].as_str().map(str::to_owned)
    };
    let at_switch = hover(line_of(&source, "    page_views++;")).unwrap();
    assert!(
        at_switch.contains("T3 is preempted, about to write `page_views`; T2 runs instead"),
        "{at_switch}"
    );
    let read = line_of(&source, "    page_views++;") + 1;
    assert!(
        at_switch.contains(&format!("**T2** is about to read `page_views` · lost_update.c:{read}  \n")),
        "{at_switch}"
    );
    assert!(at_switch.contains("**T1** is about to join T2 · lost_update.c:"), "{at_switch}");
    // The bug depth, and a line for each thread: editors show the diagnostic's words above.
    let failing = line_of(&source, "assert(page_views");
    let at_failure = hover(failing).unwrap();
    let threads =
        format!("**T1** failed · lost_update.c:{}  \n**T2** has ended  \n**T3** has ended", failing + 1);
    let expected = format!("bug depth 2 · 1 preemption\n\n{threads}");
    assert_eq!(at_failure, expected);
    assert_eq!(hover(0), None);
    editor.end();
}

#[test]
fn a_finding_has_its_actions() {
    let workspace = Workspace::with(&["lost_update"]);
    let source = workspace.file("lost_update.c");
    let mut editor = workspace.editor_with(as_extension());
    explore(&mut editor, &source);
    let failing = line_of(&source, "assert(page_views");
    let mut actions = |line: usize| {
        let at = json!({ "line": line, "character": 0 });
        let params = json!({
            "textDocument": { "uri": uri(&source) }, "range": { "start": at, "end": at },
            "context": { "diagnostics": [] },
        });
        editor.request("textDocument/codeAction", params)
    };
    let found = actions(failing);
    let titles: Vec<_> =
        found.as_array().unwrap().iter().map(|action| action["title"].as_str().unwrap()).collect();
    assert_eq!(
        titles,
        [
            "Replay the failing interleaving",
            "Show a schedule that passes",
            "Check again",
            "Explore with one more preemption",
            "Copy the schedule",
            "Show its hints",
            "Dismiss this finding"
        ]
    );
    assert_eq!(actions(0), json!([]));
    let [replay, passing] = [0, 1].map(|at| &found[at]["command"]);
    assert_eq!((&replay["command"], &passing["command"]), (&json!("interleaver.replay"), &replay["command"]));
    let [fails, passes] = [replay, passing].map(|command| command["arguments"][0].clone());
    assert_eq!((&fails["passes"], &passes["passes"]), (&json!(false), &json!(true)));
    let place = fails["schedule"].as_str().unwrap().replace(".json", ".passing.json");
    assert_eq!(passes["schedule"], place);
    for member in ["finding", "program", "folder"] {
        assert_eq!(passes[member], fails[member], "{member}");
    }
    let tree = editor.execute("interleaver.server.tree", json!({}));
    assert_eq!(tree["targets"][0]["findings"][0]["passing"], place);
    let check = &found[2]["command"];
    let job = editor.execute(check["command"].as_str().unwrap(), check["arguments"][0].clone());
    assert!(job["job"].is_u64());
    editor.wait_for_method("window/showMessage", |told| told["message"] == "lost_update: still fails");
    editor.end();
}

#[test]
fn an_untrusted_workspace_shows_what_was_found_and_runs_nothing() {
    let workspace = Workspace::with(&["lost_update"]);
    let source = workspace.file("lost_update.c");
    let mut editor = workspace.editor();
    explore(&mut editor, &source);
    editor.end();

    let mut options = as_extension();
    options["trusted"] = json!(false);
    let mut careful = workspace.editor_with(options.clone());
    careful.open(&source);
    careful.wait_for_diagnostics(&source, |diagnostics| diagnostics.len() == 1);
    // It is counted without a look at any program, and named as elsewhere.
    careful.wait_for_method("interleaver/status", |status| status["text"] == "✗ 1 bug");
    assert_eq!(careful.lens_titles(&source), ["⏮ Replay"]);
    assert_eq!(hints(&mut careful, &source).len(), 2);
    let tree = careful.execute("interleaver.server.tree", json!({}));
    assert_eq!(tree["targets"][0]["label"], "lost_update");
    let finding = tree["targets"][0]["findings"][0]["id"].clone();
    for (command, argument) in [
        ("explore", json!({ "target": "lost_update", "uri": uri(&source) })),
        ("check", json!({ "finding": finding })),
    ] {
        let answer = careful.try_request(
            "workspace/executeCommand",
            json!({ "command": format!("interleaver.server.{command}"), "arguments": [argument] }),
        );
        assert!(answer["error"]["message"].as_str().unwrap().contains("not trusted"), "{answer}");
    }
    let why = careful.execute("interleaver.server.whyNoLens", json!({ "uri": uri(&source) }));
    assert!(why["sentence"].as_str().unwrap().contains("not trusted"));

    options["trusted"] = json!(true);
    careful.notify("workspace/didChangeConfiguration", json!({ "settings": { "interleaver": options } }));
    careful.wait_for_lens(&source, |title| title.starts_with("✗ 1 bug"));
    careful.end();
}

#[test]
fn it_is_said_why_there_is_no_lens() {
    let workspace = Workspace::with(&["lost_update"]);
    let alone = workspace.put("alone.c", "int main(void) { return 0; }\n");
    let mut editor = workspace.editor();
    for (file, words) in [
        (workspace.file("lost_update.c"), "there is one: `main`"),
        (alone, "no program has been built from `alone.c` yet, and it is not known how"),
        (workspace.file("notes.txt"), "is no C, C++ or Rust file"),
        (workspace.file("missing.c"), "cannot be read"),
    ] {
        if file.exists() {
            editor.open(&file);
            editor.lens_titles(&file);
        }
        let why = editor.execute("interleaver.server.whyNoLens", json!({ "uri": uri(&file) }));
        assert!(why["sentence"].as_str().unwrap().contains(words), "{why}");
    }
    editor.end();
}
