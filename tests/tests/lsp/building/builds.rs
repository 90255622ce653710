//! Building before exploring: by the client or by the server, agreed to, failing, or not wanted.

use std::cell::RefCell;
use std::fs;
use std::rc::Rc;
use std::time::Duration;

use serde_json::{Value, json};
use tests::editor::uri;

use crate::exploring::{build, explore};
use crate::findings::after_edits::run_build;
use crate::workspace::{Workspace, as_extension, line_of};

#[test]
fn what_is_not_built_yet_is_built_by_a_click() {
    let workspace = Workspace::copy_of("make-c");
    let source = workspace.file("src/main.c");
    let asked = Rc::new(RefCell::new(Vec::new()));
    let questions = Rc::clone(&asked);
    let mut editor = workspace.editor_with(as_extension()).answering(move |method, params| {
        (method == "interleaver/build").then(|| {
            questions.borrow_mut().push(params.clone());
            run_build(params)
        })
    });
    editor.open(&source);
    let lens = editor.lens(&source, "▶ Build, then explore interleavings");
    assert_eq!(lens["range"]["start"]["line"], line_of(&source, "int main"));
    editor.click(&lens);
    editor.wait_for_diagnostics(&source, |diagnostics| !diagnostics.is_empty());
    editor.wait_for_lens(&source, |title| title.starts_with("✗ 1 bug"));
    let folder = workspace.path().to_str().unwrap();
    assert_eq!(*asked.borrow(), [json!({ "command": "make", "directory": folder, "confirmed": false })]);
    editor.end();
}

#[test]
fn a_source_that_is_newer_is_built_first() {
    let workspace = Workspace::copy_of("make-c");
    build(&workspace);
    let source = workspace.file("src/main.c");
    let text = fs::read_to_string(&source).unwrap();
    fs::write(&source, format!("/* one */\n{text}")).unwrap();
    let mut editor = workspace
        .editor()
        .answering(|method, _| (method == "window/showMessageRequest").then(|| json!({ "title": "Build" })));
    editor.open(&source);
    let lens = editor.lens(&source, "▶ Explore interleavings (stale: `main.c` is newer, builds first)");
    editor.click(&lens);
    let diagnostics = editor.wait_for_diagnostics(&source, |diagnostics| !diagnostics.is_empty());
    assert_eq!(diagnostics[0]["range"]["start"]["line"], line_of(&source, "assert(shared.balance"));
    assert_eq!(diagnostics[0]["severity"], 1);
    let question = editor.told.iter().find(|told| told["method"] == "window/showMessageRequest").unwrap();
    let sentence = question["params"]["message"].as_str().unwrap();
    assert!(sentence.starts_with("Build with `make` in `"), "{sentence}");
    editor.end();
}

/// The message about a finding that is checked again after this has happened to its program, without a notification of
/// it.
fn checked_after(change: impl Fn(&Workspace)) -> String {
    let workspace = Workspace::copy_of("make-c");
    let source = workspace.file("src/main.c");
    let mut editor = workspace
        .editor_with(as_extension())
        .answering(|method, params| (method == "interleaver/build").then(|| run_build(params)));
    let found = explore(&mut editor, &source);
    change(&workspace);
    let finding = &row(&found, "build/bank")["findings"][0]["id"];
    editor.execute("interleaver.server.check", json!({ "finding": finding }));
    let told = editor.wait_for_method("window/showMessage", |_| true);
    editor.end();
    told["message"].as_str().unwrap().to_owned()
}

#[test]
fn an_edit_that_nobody_has_told_of_is_built_before_a_check() {
    let said = checked_after(|workspace| {
        let account = workspace.file("src/account.c");
        let text = fs::read_to_string(&account).unwrap();
        let fixed = text.replace("int before =", "pthread_mutex_lock(&account->lock); int before =");
        let fixed = fixed.replace("= after;", "= after; pthread_mutex_unlock(&account->lock);");
        fs::write(&account, fixed).unwrap();
    });
    assert!(said.starts_with("bank: fixed: no failure up to 2 preemptions"), "{said}");
}

#[test]
fn a_program_that_was_removed_a_moment_ago_is_built_again() {
    let said = checked_after(|workspace| fs::remove_file(workspace.file("build/bank")).unwrap());
    assert_eq!(said, "bank: still fails");
}

#[test]
fn a_build_that_fails_ends_with_its_first_error_and_nothing_is_explored() {
    for options in [json!({}), as_extension()] {
        let workspace = Workspace::copy_of("make-c");
        build(&workspace);
        let source = workspace.file("src/main.c");
        let text = fs::read_to_string(&source).unwrap();
        fs::write(&source, format!("{text}\nno_such_type broken;\n")).unwrap();
        let mut editor = workspace.editor_with(options).answering(|method, params| match method {
            "window/showMessageRequest" => Some(json!({ "title": "Build" })),
            "interleaver/build" => Some(run_build(params)),
            _ => None,
        });
        editor.open(&source);
        let lens = editor.lens(&source, "▶ Explore");
        editor.click(&lens);
        let told = editor.wait_for_method("window/showMessage", |_| true);
        let sentence = told["message"].as_str().unwrap();
        assert!(sentence.starts_with("the build `make` failed: src/main.c:"), "{sentence}");
        assert!(sentence.contains("error: unknown type name"), "{sentence}");
        editor.wait_for_lens(&source, |title| title.starts_with("⚠ the build `make` failed"));
        let tree = editor.execute("interleaver.server.tree", json!({}));
        let bank = row(&tree, "build/bank");
        assert_eq!((&bank["state"], &bank["explored"]), (&json!("error"), &json!(null)));
        assert!(!workspace.file(".interleaver").exists());
        editor.end();
    }
}

#[test]
fn a_build_that_is_not_wanted_leaves_everything_as_it_was() {
    let workspace = Workspace::copy_of("make-c");
    let source = workspace.file("src/main.c");
    let mut editor = workspace
        .editor_with(as_extension())
        .answering(|method, _| (method == "interleaver/build").then(|| json!({ "ran": false })));
    editor.open(&source);
    let lens = editor.lens(&source, "▶ Build");
    editor.click(&lens);
    // A job that ends before the client has made its progress has none.
    editor.wait_for_method("interleaver/status", |status| status["running"] == 0);
    editor.wait_for_lens(&source, |title| title.starts_with("▶ Build"));
    assert!(!workspace.file(".interleaver").exists());
    editor.end();
}

#[test]
fn a_build_that_hangs_can_be_cancelled() {
    let workspace = Workspace::copy_of("make-c");
    let source = workspace.file("src/main.c");
    workspace.put("interleaver.toml", "build = \"sleep 1000 & sleep 1000\"\n");
    let mut editor = workspace
        .editor()
        .answering(|method, _| (method == "window/showMessageRequest").then(|| json!({ "title": "Build" })));
    editor.open(&source);
    let lens = editor.lens(&source, "▶ Build");
    editor.click(&lens);
    editor.wait_for_method("window/showMessageRequest", |_| true);
    let cancel = editor.lens(&source, "Cancel");
    assert_eq!(editor.click(&cancel)["cancelled"], true);
    editor.wait_for_lens(&source, |title| title.starts_with("▶ Build"));

    // From a palette: what is built first is no target yet that could be named.
    editor.click(&lens);
    editor.lens(&source, "Cancel");
    let cancelled = editor.execute("interleaver.server.cancel", json!({}));
    assert_eq!(cancelled["cancelled"], true);
    editor.wait_for_lens(&source, |title| title.starts_with("▶ Build"));
    editor.end();
}

#[test]
fn a_build_that_was_agreed_to_is_not_asked_about_again() {
    let workspace = Workspace::copy_of("make-c");
    let source = workspace.file("src/main.c");
    let mut editor = workspace
        .editor()
        .answering(|method, _| (method == "window/showMessageRequest").then(|| json!({ "title": "Build" })));
    explore(&mut editor, &source);
    let text = fs::read_to_string(&source).unwrap();
    let text = format!("/* one */\n{text}");
    fs::write(&source, &text).unwrap();
    editor.change(&source, 2, &text);
    editor.notify("textDocument/didSave", json!({ "textDocument": { "uri": uri(&source) } }));
    editor.wait_for_diagnostics(&source, |diagnostics| diagnostics[0]["severity"] == 3);
    let lens = editor.lens(&source, "Explore again (stale: `main.c` is newer, builds first)");
    editor.click(&lens);
    // The new text is the one that is explored: it was built.
    editor.wait_for_diagnostics(&source, |diagnostics| diagnostics[0]["severity"] == 1);
    let questions = editor.told.iter().filter(|told| told["method"] == "window/showMessageRequest");
    assert_eq!(questions.count(), 1);
    editor.end();
}

#[test]
fn where_nobody_knows_how_to_build_no_build_is_promised() {
    let workspace = Workspace::with(&["lost_update"]);
    let source = workspace.file("lost_update.c");
    let text = fs::read_to_string(&source).unwrap();
    let later =
        fs::metadata(workspace.file("lost_update")).unwrap().modified().unwrap() + Duration::from_secs(5);
    fs::write(&source, format!("/* one */\n{text}")).unwrap();
    fs::File::options().write(true).open(&source).unwrap().set_modified(later).unwrap();
    let mut editor = workspace.editor();
    editor.open(&source);
    let title = "▶ Explore interleavings (stale: `lost_update.c` is newer, explored as it is)";
    assert_eq!(editor.lens_titles(&source)[0], title);
    editor.end();
}

pub(crate) fn row<'a>(tree: &'a Value, id: &str) -> &'a Value {
    tree["targets"].as_array().unwrap().iter().find(|target| target["id"] == id).unwrap()
}
