//! Findings after edits of the text, and the ways in which they are seen to be fixed.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tests::editor::{Editor, uri};

use crate::exploring::{build, explore};
use crate::findings::showing::hints;
use crate::workspace::{Workspace, as_extension, line_of};

fn explored(workspace: &Workspace, options: Value) -> Editor {
    let source = workspace.file("lost_update.c");
    let mut editor = workspace.editor_with(options);
    explore(&mut editor, &source);
    editor
}

fn is_stale(diagnostics: &[Value]) -> bool {
    diagnostics.len() == 1
        && diagnostics[0]["severity"] == 3
        && diagnostics[0]["message"].as_str().unwrap().starts_with("before your edit: ")
}

/// The lines of the related places of a diagnostic.
fn related_lines(diagnostic: &Value) -> Vec<u64> {
    let related = diagnostic["relatedInformation"].as_array().unwrap();
    related.iter().map(|place| place["location"]["range"]["start"]["line"].as_u64().unwrap()).collect()
}

#[test]
fn an_edit_makes_a_finding_stale_and_moves_it_and_undo_restores_it() {
    let workspace = Workspace::with(&["lost_update"]);
    let source = workspace.file("lost_update.c");
    let mut editor = explored(&workspace, json!({}));
    let text = fs::read_to_string(&source).unwrap();
    let failing = line_of(&source, "assert(page_views");
    assert_eq!(hints(&mut editor, &source).len(), 2);
    // The order that decides, the pattern, and the way there.
    let is_whole = |found: &[Value]| found.len() == 1 && related_lines(&found[0]).len() == 8;
    let before = related_lines(&editor.settled_diagnostics(&source, is_whole)[0]);

    editor.change(&source, 2, &format!("/* one */\n/* two */\n{text}"));
    let diagnostics = editor.wait_for_diagnostics(&source, is_stale);
    assert_eq!(diagnostics[0]["range"]["start"]["line"], failing + 2);
    assert_eq!(related_lines(&diagnostics[0]), before.iter().map(|line| line + 2).collect::<Vec<_>>());
    assert_eq!(hints(&mut editor, &source), [] as [(u64, String); 0]);

    editor.change(&source, 3, &text);
    let diagnostics = editor.wait_for_diagnostics(&source, |diagnostics| diagnostics[0]["severity"] == 1);
    assert_eq!(diagnostics[0]["range"]["start"]["line"], failing);
    assert_eq!(hints(&mut editor, &source).len(), 2);
    editor.end();
}

#[test]
fn a_rebuild_alone_changes_nothing_about_it() {
    let workspace = Workspace::with(&["lost_update"]);
    let source = workspace.file("lost_update.c");
    let mut editor = explored(&workspace, json!({}));
    let text = fs::read_to_string(&source).unwrap();
    let longer = format!("/* one */\n{text}");
    fs::write(&source, &longer).unwrap();
    editor.change(&source, 2, &longer);
    editor.notify("textDocument/didSave", json!({ "textDocument": { "uri": uri(&source) } }));
    editor.wait_for_diagnostics(&source, is_stale);
    workspace.compile("lost_update");
    let tree = editor.execute("interleaver.server.tree", json!({}));
    assert_eq!(tree["targets"][0]["findings"][0]["stale"], true);
    editor.end();
    let mut again = workspace.editor();
    again.wait_for_diagnostics(&source, is_stale);
    again.end();
}

#[test]
fn a_fix_is_seen_by_checking_again() {
    let workspace = Workspace::with(&["lost_update"]);
    let source = workspace.file("lost_update.c");
    let mut editor = explored(&workspace, as_extension());
    let check = editor.lens(&source, "Check again");
    editor.click(&check);
    let told = editor.wait_for_method("window/showMessage", |_| true);
    assert_eq!(told["message"], "lost_update: still fails");

    fix(&source);
    editor.change(&source, 2, &fs::read_to_string(&source).unwrap());
    editor.notify("textDocument/didSave", json!({ "textDocument": { "uri": uri(&source) } }));
    editor.wait_for_diagnostics(&source, is_stale);
    workspace.compile("lost_update");
    let check = editor.lens(&source, "Check again");
    editor.click(&check);
    let told = editor.wait_for_method("window/showMessage", |_| true);
    let message = told["message"].as_str().unwrap();
    assert!(message.starts_with("lost_update: fixed: no failure up to 2 preemptions · "), "{message}");
    let published = editor.told.iter().rfind(|told| told["method"] == "textDocument/publishDiagnostics");
    assert_eq!(published.unwrap()["params"]["diagnostics"], json!([]));
    let tree = editor.execute("interleaver.server.tree", json!({}));
    let target = &tree["targets"][0];
    assert_eq!(target["state"], "clean");
    let finding = &target["findings"][0];
    assert!(finding["fixed"].as_u64() >= finding["found"].as_u64(), "{finding}");
    assert!(finding["checked"].as_str().unwrap().starts_with("fixed: "), "{finding}");
    editor.end();
}

#[test]
fn an_edit_that_moves_lines_keeps_the_findings_name() {
    let workspace = Workspace::copy_of("make-c");
    build(&workspace);
    let source = workspace.file("src/main.c");
    let mut editor = workspace
        .editor_with(as_extension())
        .answering(|method, params| (method == "interleaver/build").then(|| run_build(params)));
    let before = explore(&mut editor, &source)["targets"][0]["findings"].clone();
    let text = format!("/* one */\n{}", fs::read_to_string(&source).unwrap());
    fs::write(&source, &text).unwrap();
    editor.change(&source, 2, &text);
    editor.notify("textDocument/didSave", json!({ "textDocument": { "uri": uri(&source) } }));
    editor.wait_for_diagnostics(&source, is_stale);
    let check = editor.lens(&source, "Check again");
    editor.click(&check);
    let diagnostics = editor.wait_for_diagnostics(&source, |diagnostics| diagnostics[0]["severity"] == 1);
    assert_eq!(diagnostics.len(), 1);
    let after = editor.execute("interleaver.server.tree", json!({}))["targets"][0]["findings"].clone();
    assert_eq!(after.as_array().unwrap().len(), 1);
    assert_eq!(after[0]["id"], before[0]["id"]);
    assert_eq!(after[0]["line"].as_u64(), before[0]["line"].as_u64().map(|line| line + 1));
    editor.end();
}

#[test]
fn the_program_and_the_text_of_a_finding_outlive_the_build() {
    let workspace = Workspace::with(&["lost_update"]);
    let source = workspace.file("lost_update.c");
    let mut editor = explored(&workspace, as_extension());
    let old = fs::read(workspace.file("lost_update")).unwrap();
    fix(&source);
    workspace.compile("lost_update");
    let tree = editor.execute("interleaver.server.tree", json!({}));
    let finding = &tree["targets"][0]["findings"][0];
    let program = Path::new(finding["program"].as_str().unwrap());
    assert!(program.starts_with(workspace.file(".interleaver")), "{program:?}");
    assert!(fs::read(program).unwrap() == old);
    editor.execute("interleaver.server.dismiss", json!({ "finding": finding["id"] }));
    assert!(!program.exists());
    let tree = editor.execute("interleaver.server.tree", json!({}));
    assert_eq!(tree["targets"][0]["findings"], json!([]));
    // A dismissed failure is a failure all the same.
    assert_eq!(tree["targets"][0]["state"], "inconclusive");
    let status = tree["targets"][0]["status"].as_str().unwrap();
    assert!(status.starts_with("? 1 failure dismissed · "), "{status}");
    editor.end();
}

/// Makes the update atomic.
fn fix(source: &Path) {
    let text = fs::read_to_string(source).unwrap();
    let fixed = text.replace("page_views++;", "__atomic_fetch_add(&page_views, 1, __ATOMIC_SEQ_CST);");
    assert_ne!(fixed, text);
    fs::write(source, fixed).unwrap();
}

/// The extension's part in a build: the command, in its folder.
pub(crate) fn run_build(params: &Value) -> Value {
    let ran = std::process::Command::new("sh")
        .args(["-c", params["command"].as_str().unwrap()])
        .current_dir(params["directory"].as_str().unwrap())
        .output()
        .unwrap();
    let output = format!("{}{}", String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    json!({ "ran": true, "exitCode": ran.status.code(), "output": output })
}

#[test]
fn a_byte_order_mark_or_another_encoding_is_no_edit() {
    let text = fs::read_to_string(tests::targets().join("c/lost_update.c")).unwrap();
    let marked = [b"\xef\xbb\xbf", text.as_bytes()].concat();
    let in_latin_1 = [b"/* \xfcber */", text.as_bytes()].concat();
    for (bytes, shown) in [(marked, text.clone()), (in_latin_1, format!("/* \u{fc}ber */{text}"))] {
        let workspace = Workspace::with(&["lost_update"]);
        let source = workspace.file("lost_update.c");
        fs::write(&source, bytes).unwrap();
        workspace.compile("lost_update");
        let mut editor = workspace.editor();
        let document = json!({ "uri": uri(&source), "languageId": "c", "version": 1, "text": shown });
        editor.notify("textDocument/didOpen", json!({ "textDocument": document }));
        let lens = editor.lens(&source, "▶ Explore");
        editor.click(&lens);
        let found = editor.settled_diagnostics(&source, |diagnostics| diagnostics.len() == 1);
        assert_eq!(found[0]["severity"], 1, "{found:#?}");
        assert_eq!(hints(&mut editor, &source).len(), 2);
        editor.change(&source, 2, &format!("/* one */\n{shown}"));
        editor.wait_for_diagnostics(&source, is_stale);
        editor.end();
    }
}
