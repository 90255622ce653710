//! `interleaver.toml` in an editor.

use serde_json::json;
use tests::editor::uri;

use crate::exploring::build;
use crate::workspace::Workspace;

#[test]
fn what_is_wrong_in_it_is_a_diagnostic_as_it_is_typed() {
    let workspace = Workspace::empty();
    let file = workspace.put("interleaver.toml", "seed = 1\n");
    let mut editor = workspace.editor();
    editor.open(&file);
    editor.change(&file, 2, "seed = \"one\"\n");
    let diagnostics = editor.wait_for_diagnostics(&file, |diagnostics| !diagnostics.is_empty());
    assert_eq!(diagnostics[0]["source"], "interleaver");
    assert!(diagnostics[0]["message"].as_str().unwrap().contains("a whole number"), "{diagnostics:#?}");
    editor.change(&file, 3, "seed = 2\n");
    editor.wait_for_diagnostics(&file, <[_]>::is_empty);
    editor.end();
}

#[test]
fn keys_are_completed_and_explained() {
    let workspace = Workspace::empty();
    let file = workspace.put("interleaver.toml", "seed = 1\n\n");
    let mut editor = workspace.editor();
    editor.open(&file);
    let at = |line: u32, character: u32| json!({ "textDocument": { "uri": uri(&file) }, "position": { "line": line, "character": character } });
    let items = editor.request("textDocument/completion", at(1, 0));
    let labels: Vec<_> =
        items.as_array().unwrap().iter().map(|item| item["label"].as_str().unwrap()).collect();
    assert!(labels.contains(&"max-preemptions") && !labels.contains(&"seed"), "{labels:?}");
    let hover = editor.request("textDocument/hover", at(0, 1));
    assert!(hover["contents"]["value"].as_str().unwrap().starts_with("**seed**"), "{hover}");
    editor.end();
}

#[test]
fn a_target_gets_a_place_for_its_arguments() {
    let workspace = Workspace::copy_of("make-c");
    build(&workspace);
    let mut editor = workspace.editor();
    let source = workspace.file("src/main.c");
    editor.open(&source);
    editor.lens(&source, "▶ Explore");
    let place = editor.execute("interleaver.server.configuration", json!({ "target": "build/bank" }));
    assert_eq!(place["path"], workspace.file("interleaver.toml").to_str().unwrap());
    assert_eq!(place["text"], "[[target]]\nprogram = \"build/bank\"\nargs = []\n");
    assert_eq!(place["line"], 2);
    assert!(!workspace.file("interleaver.toml").exists());
    editor.end();
}

#[test]
fn targets_in_one_line_say_which_they_are() {
    let workspace = Workspace::with(&["lost_update"]);
    let target = |name: &str| format!("[[target]]\nname = \"{name}\"\nprogram = \"lost_update\"\n");
    workspace.put("interleaver.toml", &format!("{}{}", target("short"), target("long")));
    let mut editor = workspace.editor();
    let source = workspace.file("lost_update.c");
    editor.open(&source);
    let mut titles = editor.lens_titles(&source);
    titles.sort();
    let expected = ["long", "lost_update", "short"].map(|name| format!("▶ Explore interleavings · {name}"));
    assert_eq!(titles, expected);
    editor.end();
}
