//! A prerequisite that the machine refuses is told before the first exploration; a dispensable one is done without.

use std::path::Path;

use serde_json::{Value, json};
use tests::editor::Editor;
use tests::{Build, Optimisation};

use crate::workspace::{Workspace, line_of};

/// A server that is refused one thing.
fn without(thing: &str, workspace: &Workspace) -> Editor {
    let wrapper = Build::new("processes/without.c", Optimisation::O0).program().unwrap();
    let mut editor = Editor::spawned_under(&wrapper, &[thing], workspace.path()).unwrap();
    editor.begin(json!({}));
    editor
}

fn click(editor: &mut Editor, source: &Path) {
    editor.open(source);
    let lens = editor.lens(source, "▶ Explore interleavings");
    editor.click(&lens);
}

/// A sentence that the user is shown, and how grave it is (1 is an error, 2 a warning).
fn sentence(params: &Value) -> (u64, String) {
    (params["type"].as_u64().unwrap(), params["message"].as_str().unwrap().to_owned())
}

/// The messages that the user was shown before the diagnostics that `editor` has waited for. (Before an answer there
/// may be some that have not come yet.)
fn shown(editor: &Editor) -> Vec<(u64, String)> {
    let told = editor.told.iter().filter(|told| told["method"] == "window/showMessage");
    told.map(|told| sentence(&told["params"])).collect()
}

#[test]
fn what_nothing_can_be_explored_without_is_said_with_a_fix() {
    for (thing, words) in [("trace", "ptrace is refused"), ("filter", "a seccomp filter is refused")] {
        let workspace = Workspace::with(&["lost_update"]);
        let source = workspace.file("lost_update.c");
        let mut editor = without(thing, &workspace);
        click(&mut editor, &source);
        let (kind, said) = sentence(&editor.wait_for_method("window/showMessage", |_| true));
        assert!(kind == 1 && said.contains(words) && said.contains("; to do: "), "{thing}: {said}");
        let warning = editor.wait_for_lens(&source, |title| title.starts_with("⚠ "));
        assert_eq!(warning, format!("⚠ {said}"));
        assert!(!workspace.file(".interleaver").exists(), "{thing}: nothing is explored");
        // The machine may have been changed meanwhile: the next click tries again.
        let lens = editor.lens(&source, "▶ Explore interleavings");
        editor.click(&lens);
        let again = sentence(&editor.wait_for_method("window/showMessage", |_| true));
        assert_eq!(shown(&editor), [(kind, said), again], "{thing}");
        editor.end();
    }
}

#[test]
fn what_can_be_done_without_is_said_once_and_the_bug_is_found() {
    for (thing, words) in
        [("personality", "personality is refused"), ("affinity", "sched_setaffinity is refused")]
    {
        let workspace = Workspace::with(&["lost_update", "lock_order"]);
        let [first, second] = ["lost_update.c", "lock_order.c"].map(|name| workspace.file(name));
        let mut editor = without(thing, &workspace);
        click(&mut editor, &first);
        let found = editor.wait_for_diagnostics(&first, |diagnostics| !diagnostics.is_empty());
        assert_eq!(found[0]["range"]["start"]["line"], line_of(&first, "assert(page_views"), "{thing}");
        editor.wait_for_lens(&first, |title| title.starts_with("✗ 1 bug · 1 preemption"));
        click(&mut editor, &second);
        editor.wait_for_diagnostics(&second, |diagnostics| !diagnostics.is_empty());
        editor.wait_for_lens(&second, |title| title.starts_with("✗ 1 bug"));
        let said = shown(&editor);
        let [(2, sentence)] = said.as_slice() else { panic!("{thing}: one warning is expected: {said:?}") };
        assert!(sentence.contains(words) && sentence.contains("; to do: "), "{thing}: {sentence}");
        editor.end();
    }
}

#[test]
fn where_everything_is_permitted_nothing_is_said() {
    let workspace = Workspace::with(&["lost_update"]);
    let source = workspace.file("lost_update.c");
    let mut editor = Editor::spawned(workspace.path()).unwrap();
    editor.begin(json!({}));
    click(&mut editor, &source);
    editor.wait_for_diagnostics(&source, |diagnostics| !diagnostics.is_empty());
    assert_eq!(shown(&editor), []);
    editor.end();
}
