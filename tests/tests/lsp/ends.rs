//! No process outlives the one that wanted it, whatever it does and however that one ends.

use std::path::PathBuf;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;
use tests::editor::{Editor, until};
use tests::running;

use crate::exploring::build;
use crate::workspace::{Workspace, until_gone};

/// A server in a process of its own, which explores a program that never comes to an end by itself.
fn exploring(workspace: &Workspace) -> (Editor, PathBuf) {
    build(workspace);
    let mut editor = Editor::spawned(workspace.path()).unwrap();
    editor.begin(
        json!({ "budget": { "maxPreemptions": 9, "maxSchedules": 100_000_000, "timeLimitSeconds": 1_000 } }),
    );
    let source = workspace.file("src/crowd.c");
    editor.open(&source);
    let lens = editor.lens(&source, "▶ Explore");
    editor.click(&lens);
    editor.wait_for_lens(&source, |title| title.starts_with("● ") && title.contains(" schedules"));
    let program = workspace.file("build/crowd");
    until("it runs", || !running(&program).is_empty());
    (editor, program)
}

#[test]
fn a_killed_server_leaves_nothing() {
    let workspace = Workspace::copy_of("make-c");
    let (mut editor, program) = exploring(&workspace);
    let server = editor.process().unwrap();
    kill(Pid::from_raw(server.id().cast_signed()), Signal::SIGKILL).unwrap();
    server.wait().unwrap();
    until_gone(&program);
}

#[test]
fn exit_leaves_nothing() {
    let workspace = Workspace::copy_of("make-c");
    let (mut editor, program) = exploring(&workspace);
    editor.request("shutdown", json!(null));
    editor.notify("exit", json!(null));
    let server = editor.process().unwrap();
    assert!(server.wait().unwrap().success());
    until_gone(&program);
}

#[test]
fn a_client_that_goes_away_leaves_nothing() {
    let workspace = Workspace::copy_of("make-c");
    let (editor, program) = exploring(&workspace);
    let mut server = editor.hang_up();
    server.wait().unwrap();
    until_gone(&program);
}

#[test]
fn programs_that_spin_flood_or_close_their_ears_end_when_they_are_cancelled() {
    for (name, source) in [
        ("never_ends", "limits/never_ends.c"),
        ("floods", "input_output/floods.c"),
        ("deaf", "signals/deaf.c"),
    ] {
        let workspace = Workspace::empty();
        let source = workspace.put_bundled(source);
        workspace.compile(name);
        let limits = "run-timeout = \"1000s\"\nstep-limit = 1000000000\ntime-limit = \"1000s\"\n";
        // With an argument it floods for ever.
        let target = format!("\n[[target]]\nprogram = \"{name}\"\nargs = [\"on\"]\n");
        workspace.put("interleaver.toml", &(limits.to_owned() + &target));
        let mut editor = workspace.editor();
        editor.open(&source);
        let lens = editor.lens(&source, "▶ Explore");
        let job = editor.click(&lens)["job"].clone();
        let program = workspace.file(name);
        until("it runs", || !running(&program).is_empty());
        assert_eq!(editor.execute("interleaver.server.cancel", json!({ "job": job }))["cancelled"], true);
        until_gone(&program);
        editor.wait_for_lens(&source, |title| !title.starts_with('●'));
        editor.end();
    }
}

#[test]
fn what_was_found_before_it_was_cancelled_is_kept() {
    let workspace = Workspace::empty();
    let source = workspace.put_bundled("limits/found_early.c");
    workspace.compile("found_early");
    let mut editor = workspace.editor_with(json!({
        "budget": { "maxPreemptions": 9, "maxSchedules": 100_000_000, "timeLimitSeconds": 1_000 },
    }));
    editor.open(&source);
    let lens = editor.lens(&source, "▶ Explore");
    let job = editor.click(&lens)["job"].clone();
    editor.wait_for_diagnostics(&source, |diagnostics| !diagnostics.is_empty());
    let title = editor.wait_for_lens(&source, |title| title.starts_with("● "));
    assert!(title.ends_with(" · 1 bug"), "{title}");
    editor.execute("interleaver.server.cancel", json!({ "job": job }));
    editor.wait_for_lens(&source, |title| title.starts_with("✗ 1 bug"));
    editor.end();
    let mut again = workspace.editor();
    again.wait_for_diagnostics(&source, |diagnostics| diagnostics.len() == 1);
    again.end();
}
