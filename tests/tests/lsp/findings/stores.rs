//! One store: it survives a reload, and is the same for several servers and the command line.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::{Value, json};
use tests::editor::uri;
use tests::{Outcome, Tool};

use crate::exploring::explore;
use crate::workspace::{Workspace, as_extension};

/// The stored data of the only target.
pub(crate) fn target(workspace: &Workspace) -> Value {
    let store = fs::read_dir(workspace.file(".interleaver")).unwrap().flatten();
    let kept = store.map(|entry| entry.path().join("target.json")).find(|file| file.exists()).unwrap();
    serde_json::from_slice(&fs::read(kept).unwrap()).unwrap()
}

fn by_command_line(program: &Path) -> Outcome {
    let words = ["explore", "--keep-going", "--"].map(OsStr::new);
    Tool::new(words.into_iter().chain([program.as_os_str()])).run().unwrap()
}

#[test]
fn everything_is_there_again_after_a_reload() {
    let workspace = Workspace::with(&["lost_update"]);
    let source = workspace.file("lost_update.c");
    let mut editor = workspace.editor_with(as_extension());
    let before = explore(&mut editor, &source);
    editor.end();
    let mut again = workspace.editor_with(as_extension());
    let diagnostics = again.wait_for_diagnostics(&source, |diagnostics| !diagnostics.is_empty());
    assert_eq!(diagnostics[0]["severity"], 1);
    again.open(&source);
    again.lens(&source, "✗ 1 bug · 1 preemption · ");
    assert_eq!(again.execute("interleaver.server.tree", json!({})), before);
    again.end();
}

#[test]
fn two_servers_and_the_command_line_agree() {
    let workspace = Workspace::with(&["lost_update", "lock_order"]);
    let sources = ["lost_update.c", "lock_order.c"].map(|name| workspace.file(name));
    let mut one = workspace.editor();
    let mut other = workspace.editor();
    explore(&mut one, &sources[0]);
    other.wait_for_diagnostics(&sources[0], |diagnostics| diagnostics.len() == 1);
    let explored = by_command_line(&workspace.file("lock_order"));
    assert_eq!(explored.code, 1, "{}", explored.transcript());
    for editor in [&mut one, &mut other] {
        editor.wait_for_diagnostics(&sources[1], |diagnostics| !diagnostics.is_empty());
        editor.open(&sources[1]);
        editor.wait_for_lens(&sources[1], |title| title.starts_with("✗ 1 bug"));
    }
    let tree = one.execute("interleaver.server.tree", json!({}));
    assert_eq!(tree, other.execute("interleaver.server.tree", json!({})));
    let finding = tree["targets"][0]["findings"][0]["id"].clone();
    one.execute("interleaver.server.dismiss", json!({ "finding": finding }));
    other.wait_for_method("textDocument/publishDiagnostics", |params| params["diagnostics"] == json!([]));
    one.end();
    other.end();
}

#[test]
fn both_servers_explore_one_target_at_once_and_lose_nothing() {
    let workspace = Workspace::with(&["lost_update"]);
    let source = workspace.file("lost_update.c");
    let mut editors = [workspace.editor(), workspace.editor()];
    for editor in &mut editors {
        editor.open(&source);
        let lens = editor.lenses(&source)[0].clone();
        editor.click(&lens);
    }
    for editor in &mut editors {
        editor.wait_for_lens(&source, |title| title.starts_with("✗ 1 bug · 1 preemption"));
    }
    editors.into_iter().for_each(tests::editor::Editor::end);
    assert_eq!(target(&workspace)["last"]["findings"].as_array().unwrap().len(), 1);
}

#[test]
fn a_change_that_the_client_reports_is_seen_at_once() {
    let workspace = Workspace::with(&["lost_update"]);
    let source = workspace.file("lost_update.c");
    let mut editor = workspace.editor();
    let asked = editor.wait_for_method("client/registerCapability", |_| true);
    let watchers = asked["registrations"][0]["registerOptions"]["watchers"].to_string();
    assert!(watchers.contains("**/.interleaver/**"), "{watchers}");
    let explored = by_command_line(&workspace.file("lost_update"));
    assert_eq!(explored.code, 1, "{}", explored.transcript());
    let changed = json!({ "uri": uri(&workspace.file(".interleaver/x/target.json")), "type": 1 });
    editor.notify("workspace/didChangeWatchedFiles", json!({ "changes": [changed] }));
    editor.wait_for_diagnostics(&source, |diagnostics| diagnostics.len() == 1);
    editor.end();
}

#[test]
fn a_store_that_cannot_be_written_is_a_sentence() {
    let workspace = Workspace::with(&["lost_update"]);
    let source = workspace.file("lost_update.c");
    // Even the superuser cannot make a folder where a file is.
    fs::write(workspace.file(".interleaver"), "").unwrap();
    fs::set_permissions(workspace.file(".interleaver"), fs::Permissions::from_mode(0o444)).unwrap();
    let mut editor = workspace.editor();
    editor.open(&source);
    let lens = editor.lens(&source, "▶ Explore");
    editor.click(&lens);
    let told = editor.wait_for_method("window/showMessage", |_| true);
    assert!(told["message"].as_str().unwrap().starts_with("cannot write to `"), "{told}");
    editor.wait_for_lens(&source, |title| title.starts_with("⚠ cannot write to `"));
    editor.lens(&source, "▶ Explore");
    editor.end();
}
