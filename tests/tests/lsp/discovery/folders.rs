//! Workspaces as they are: reached through symbolic links, with several checkouts, with programs that are still to come.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::{Value, json};
use tests::editor::{Editor, uri};
use tests::{Project, Tool};

use crate::findings::showing::hints;
use crate::workspace::{Workspace, line_of};

/// The files that diagnostics were published for.
fn published(editor: &Editor) -> Vec<&str> {
    let told = editor.told.iter().filter(|told| told["method"] == "textDocument/publishDiagnostics");
    let mut files: Vec<&str> = told.map(|told| told["params"]["uri"].as_str().unwrap()).collect();
    files.dedup();
    files
}

#[test]
fn a_folder_behind_a_symbolic_link_keeps_the_clients_names() {
    let workspace = Workspace::with(&["lost_update"]);
    let elsewhere = tempfile::tempdir().unwrap();
    let link = elsewhere.path().join("project");
    symlink(workspace.path(), &link).unwrap();
    let source = link.join("lost_update.c");
    let mut editor = Editor::in_process(&link).unwrap();
    editor.begin(json!({}));
    crate::exploring::explore(&mut editor, &source);
    let found = editor.settled_diagnostics(&source, |diagnostics| diagnostics.len() == 1);
    assert_eq!(found[0]["range"]["start"]["line"], line_of(&source, "assert(page_views"));
    let related = found[0]["relatedInformation"].as_array().unwrap();
    assert!(related.iter().all(|at| at["location"]["uri"] == uri(&source)), "{related:#?}");
    assert_eq!(hints(&mut editor, &source).len(), 2);
    assert_eq!(published(&editor), [uri(&source)]);
    let tree = editor.execute("interleaver.server.tree", json!({}));
    assert_eq!(tree["targets"].as_array().unwrap().len(), 1, "{tree:#}");
    assert_eq!(tree["targets"][0]["findings"].as_array().unwrap().len(), 1, "{tree:#}");
    assert_eq!(tree["targets"][0]["uri"], uri(&source));
    let text = fs::read_to_string(&source).unwrap();
    editor.change(&source, 2, &format!("/* one */\n{text}"));
    editor.wait_for_diagnostics(&source, |diagnostics| diagnostics[0]["severity"] == 3);
    editor.end();
    // A file that is not open has the name that it would have if it were.
    let mut again = Editor::in_process(&link).unwrap();
    again.begin(json!({}));
    again.wait_for_diagnostics(&source, |diagnostics| diagnostics.len() == 1);
    assert_eq!(published(&again), [uri(&source)]);
    again.end();
}

/// A checkout with a program `app`, of this bundled source.
fn checkout(root: &Path, source: &str) -> std::path::PathBuf {
    fs::create_dir_all(root.join(".git")).unwrap();
    let place = root.join("app.c");
    fs::copy(tests::targets().join(source), &place).unwrap();
    let mut gcc = std::process::Command::new("gcc");
    gcc.args(["-g", "-O0", "-pthread", "-o"]).arg(root.join("app")).arg(&place);
    assert!(gcc.status().unwrap().success());
    place
}

fn first_title(editor: &mut Editor, source: &Path) -> String {
    editor.lens_titles(source)[0].clone()
}

fn row<'a>(tree: &'a Value, source: &Path) -> &'a Value {
    tree["targets"].as_array().unwrap().iter().find(|target| target["uri"] == uri(source)).unwrap()
}

#[test]
fn targets_of_the_same_name_in_two_checkouts_are_two() {
    for are_folders in [true, false] {
        let both = tempfile::tempdir().unwrap();
        let [one, other] = ["one", "other"].map(|name| both.path().join(name));
        let buggy = checkout(&one, "c/lost_update.c");
        let correct = checkout(&other, "c/lost_update_ok.c");
        let mut editor = Editor::in_process(if are_folders { &one } else { both.path() }).unwrap();
        editor.begin(json!({}));
        if are_folders {
            let added = json!([{ "uri": uri(&other), "name": "other" }]);
            let event = json!({ "event": { "added": added, "removed": [] } });
            editor.notify("workspace/didChangeWorkspaceFolders", event);
        }
        editor.open(&buggy);
        editor.open(&correct);
        let lens = editor.lens(&buggy, "▶ Explore interleavings");
        editor.click(&lens);
        editor.wait_for_lens(&buggy, |title| title.starts_with("✗ 1 bug"));
        assert_eq!(first_title(&mut editor, &correct), "▶ Explore interleavings");

        let tree = editor.execute("interleaver.server.tree", json!({}));
        let names = [&buggy, &correct].map(|source| row(&tree, source)["id"].clone());
        assert_ne!(names[0], names[1], "{tree:#}");
        assert_eq!(row(&tree, &correct)["findings"], json!([]));
        // As the tree of an editor does it: by name alone.
        editor.execute("interleaver.server.explore", json!({ "target": names[1] }));
        editor.wait_for_lens(&correct, |title| title.starts_with("✓ no failure up to 2 preemptions"));
        assert!(first_title(&mut editor, &buggy).starts_with("✗ 1 bug"));
        let tree = editor.execute("interleaver.server.tree", json!({}));
        let states = [&buggy, &correct].map(|source| row(&tree, source)["state"].clone());
        assert_eq!(states, [json!("found"), json!("clean")]);
        assert_eq!(row(&tree, &buggy)["findings"].as_array().unwrap().len(), 1);
        for root in [&one, &other] {
            assert!(root.join(".interleaver").is_dir(), "each checkout has a store of its own");
        }
        editor.end();
    }
}

#[test]
fn a_program_that_the_configuration_names_is_built_by_a_click() {
    let workspace = Workspace::empty();
    let source = workspace.put_bundled("c/lost_update.c");
    workspace.put(
        "interleaver.toml",
        "[[target]]\nprogram = \"out/counter\"\nbuild = \"mkdir -p out && cc -g -pthread lost_update.c -o out/counter\"\n",
    );
    let mut editor = workspace
        .editor()
        .answering(|method, _| (method == "window/showMessageRequest").then(|| json!({ "title": "Build" })));
    editor.open(&source);
    let lens = editor.lens(&source, "▶ Build, then explore interleavings");
    let why = editor.execute("interleaver.server.whyNoLens", json!({ "uri": uri(&source) }));
    assert_eq!(
        why["sentence"],
        "no program has been built from `lost_update.c` yet, and `out/counter`, which interleaver.toml names, is not there: \
         `mkdir -p out && cc -g -pthread lost_update.c -o out/counter` builds it"
    );
    editor.click(&lens);
    editor.wait_for_lens(&source, |title| title.starts_with("✗ 1 bug · 1 preemption"));
    assert!(workspace.file("out/counter").is_file());
    editor.end();
}

#[test]
fn what_the_command_line_finds_in_a_cargo_project_is_the_editors_finding() {
    let project = Project::copy("cargo-tests").unwrap();
    fs::create_dir(project.path(".git")).unwrap();
    project.run("cargo test -q --offline --no-run").unwrap();
    let program = project.run("ls target/debug/deps/cargo_tests-* | grep -v '\\.d$'").unwrap();
    for program in program.lines() {
        // The program itself, its tests (there are none), and the tests of the library.
        let words = [
            "explore",
            "--",
            &project.path(program).display().to_string(),
            "--exact",
            "tests::views_are_lost",
        ];
        let explored = Tool::new(words).run().unwrap();
        let has_it = explored.code == 1;
        assert!(has_it || explored.says("ran no test"), "{}", explored.transcript());
    }
    let source = project.path("src/lib.rs");
    let mut editor = Editor::in_process(project.root()).unwrap();
    editor.begin(json!({}));
    editor.wait_for_diagnostics(&source, |diagnostics| diagnostics.len() == 1);
    editor.open(&source);
    editor.lens(&source, "✗ 1 bug · 1 preemption");
    let tree = editor.execute("interleaver.server.tree", json!({}));
    let targets = tree["targets"].as_array().unwrap().iter();
    let found: Vec<&str> =
        targets.filter(|row| row["findings"] != json!([])).map(|row| row["id"].as_str().unwrap()).collect();
    let expected =
        ["cargo:cargo-tests:bin:cargo-tests", "cargo:cargo-tests:lib:cargo_tests#tests::views_are_lost"];
    assert_eq!(found, expected);
    editor.end();
}

#[test]
fn what_was_found_in_a_folder_goes_with_it() {
    let workspace = Workspace::with(&["lost_update"]);
    let source = workspace.file("lost_update.c");
    let mut editor = workspace.editor();
    crate::exploring::explore(&mut editor, &source);
    editor.notify("textDocument/didClose", json!({ "textDocument": { "uri": uri(&source) } }));
    let folder = json!({ "uri": uri(workspace.path()), "name": "a" });
    let gone = json!({ "event": { "added": [], "removed": [folder.clone()] } });
    editor.notify("workspace/didChangeWorkspaceFolders", gone);
    editor.wait_for_diagnostics(&source, <[_]>::is_empty);
    assert_eq!(editor.execute("interleaver.server.tree", json!({})), json!({ "targets": [] }));
    let back = json!({ "event": { "added": [folder], "removed": [] } });
    editor.notify("workspace/didChangeWorkspaceFolders", back);
    editor.wait_for_diagnostics(&source, |diagnostics| diagnostics.len() == 1);
    editor.end();
}
