//! From the lens to the finding, and everything that is shown on the way.

use serde_json::{Value, json};
use tests::editor::{title, uri};

use crate::workspace::{Workspace, as_extension, line_of, until_gone};

#[test]
fn a_lens_is_clicked_and_the_failing_line_gets_a_diagnostic() {
    let workspace = Workspace::with(&["lost_update"]);
    let source = workspace.file("lost_update.c");
    let mut editor = workspace.editor();
    editor.open(&source);
    let lens = editor.lens(&source, "▶ Explore interleavings");
    assert_eq!(lens["range"]["start"]["line"], line_of(&source, "int main"));
    let answer = editor.click(&lens);
    assert!(answer["job"].is_u64(), "{answer}");
    // A finding comes before its explanation.
    let is_explained =
        |diagnostic: &Value| diagnostic["message"].as_str().is_some_and(|told| told.contains('\n'));
    let diagnostics = editor.settled_diagnostics(&source, |diagnostics| diagnostics.iter().any(is_explained));
    let [diagnostic] = diagnostics.as_slice() else { panic!("{diagnostics:#?}") };
    assert_eq!(diagnostic["range"]["start"]["line"], line_of(&source, "assert(page_views"));
    assert_eq!(diagnostic["severity"], 1);
    assert_eq!((&diagnostic["source"], &diagnostic["code"]), (&json!("interleaver"), &json!("assertion")));
    let message = diagnostic["message"].as_str().unwrap();
    assert!(
        message.ends_with(
            "\nlost update: T3 reads `page_views` (lost_update.c:19), T2 writes it (lost_update.c:19), and then T3 writes it \
             (lost_update.c:19), which undoes that"
        ),
        "{message}"
    );
    editor.wait_for_lens(&source, |title| title.starts_with("✗ 1 bug · 1 preemption · "));
    editor.end();
}

#[test]
fn a_program_without_a_failure_gets_a_tick() {
    let workspace = Workspace::with(&["lost_update_ok"]);
    let source = workspace.file("lost_update_ok.c");
    let mut editor = workspace.editor();
    editor.open(&source);
    let lens = editor.lens(&source, "▶ Explore");
    editor.click(&lens);
    editor.wait_for_lens(&source, |title| title.starts_with("✓ no failure up to 2 preemptions · "));
    let titles = editor.lens_titles(&source);
    assert_eq!(titles[1..], ["Explore further"]);
    editor.end();
}

#[test]
fn what_was_found_offers_its_commands_only_to_a_client_that_has_them() {
    let workspace = Workspace::with(&["lost_update"]);
    let source = workspace.file("lost_update.c");
    let failing = line_of(&source, "assert(page_views");
    for (options, expected, above) in [
        (json!({}), vec!["Check again", "Explore again", "Explore further"], Vec::new()),
        (as_extension(), vec!["Replay", "Check again", "Explore again", "Explore further"], vec!["⏮ Replay"]),
    ] {
        let mut editor = workspace.editor_with(options);
        editor.open(&source);
        let lenses = editor.lenses(&source);
        let explore = lenses.iter().find(|lens| title(lens).contains("Explore")).unwrap();
        editor.click(explore);
        editor.wait_for_lens(&source, |title| title.starts_with('✗'));
        let lenses = editor.lenses(&source);
        let of = |line: usize| {
            let at_line = lenses.iter().filter(move |lens| lens["range"]["start"]["line"] == line);
            at_line.map(title).filter(|title| !title.starts_with('✗')).collect::<Vec<_>>()
        };
        assert_eq!(of(line_of(&source, "int main")), expected);
        assert_eq!(of(failing), above);
        if let Some(replay) = lenses.iter().find(|lens| title(lens) == "⏮ Replay") {
            let argument = &replay["command"]["arguments"][0];
            assert_eq!(argument["folder"], workspace.path().to_str().unwrap());
            assert_eq!(argument["program"], workspace.file("lost_update").to_str().unwrap());
            assert!(std::fs::metadata(argument["schedule"].as_str().unwrap()).is_ok());
        }
        editor.end();
    }
}

#[test]
fn a_long_exploration_shows_its_progress_and_ends_when_it_is_cancelled() {
    let workspace = Workspace::copy_of("make-c");
    let source = workspace.file("src/crowd.c");
    let program = workspace.file("build/crowd");
    build(&workspace);
    let mut editor = workspace.editor_with(json!({ "budget": {
        "maxPreemptions": 9, "maxSchedules": 100_000_000, "timeLimitSeconds": 1_000,
    }}));
    editor.open(&source);
    let lens = editor.lens(&source, "▶ Explore");
    let job = editor.click(&lens)["job"].clone();
    let begin = editor.wait_for_method("$/progress", |progress| progress["value"]["kind"] == "begin");
    assert_eq!(begin["value"].get("percentage"), None);
    assert_eq!(begin["value"]["cancellable"], true);
    editor.wait_for_method("$/progress", |progress| {
        let message = progress["value"]["message"].as_str().unwrap_or_default();
        progress["token"] == begin["token"]
            && message.contains(" schedules · ")
            && message.contains("/s · c = ")
    });
    let running =
        editor.wait_for_lens(&source, |title| title.starts_with("● ") && title.contains(" schedules"));
    assert!(running.contains(" · c = "), "{running}");
    let cancel = editor.lens(&source, "Cancel");
    assert_eq!(cancel["command"]["arguments"][0]["job"], job);
    assert_eq!(editor.click(&cancel)["cancelled"], true);
    editor.wait_for_method("$/progress", |progress| progress["value"]["kind"] == "end");
    until_gone(&program);
    let after = editor.wait_for_lens(&source, |title| title.starts_with("? "));
    assert!(after.contains("it was stopped"), "{after}");
    editor.end();
}

#[test]
fn the_progress_itself_can_be_cancelled() {
    let workspace = Workspace::copy_of("make-c");
    build(&workspace);
    let source = workspace.file("src/crowd.c");
    let mut editor = workspace.editor_with(json!({ "budget": { "timeLimitSeconds": 1_000 } }));
    editor.open(&source);
    let lens = editor.lens(&source, "▶ Explore");
    editor.click(&lens);
    let begin = editor.wait_for_method("$/progress", |progress| progress["value"]["kind"] == "begin");
    editor.notify("window/workDoneProgress/cancel", json!({ "token": begin["token"] }));
    editor.wait_for_method("$/progress", |progress| progress["value"]["kind"] == "end");
    until_gone(&workspace.file("build/crowd"));
    editor.end();
}

#[test]
fn lenses_are_asked_for_anew_twice_a_second_at_most() {
    let workspace = Workspace::copy_of("make-c");
    build(&workspace);
    let source = workspace.file("src/crowd.c");
    let mut editor =
        workspace.editor_with(json!({ "budget": { "timeLimitSeconds": 3, "maxSchedules": 1_000_000 } }));
    editor.open(&source);
    let lens = editor.lens(&source, "▶ Explore");
    let began = std::time::Instant::now();
    editor.click(&lens);
    editor.wait_for_lens(&source, |title| title.starts_with("? "));
    let seconds = began.elapsed().as_secs() as usize + 1;
    let refreshes = editor.told.iter().filter(|told| told["method"] == "workspace/codeLens/refresh").count();
    assert!(refreshes <= 2 * seconds + 1, "{refreshes} in {seconds} s");
    assert!(refreshes >= 3, "{refreshes}");
    editor.end();
}

#[test]
fn a_file_without_main_leads_to_the_programs_that_use_it() {
    let workspace = Workspace::copy_of("make-c");
    build(&workspace);
    let source = workspace.file("src/account.c");
    let mut editor = workspace.editor_with(as_extension());
    editor.open(&source);
    let lens = editor.lens(&source, "Explore a program that uses this file…");
    assert_eq!(lens["command"]["command"], "interleaver.pickProgram");
    let programs = editor.execute("interleaver.server.programs", json!({ "uri": uri(&source) }));
    assert_eq!(programs, json!([{ "target": "build/bank", "label": "bank", "detail": "build/bank" }]));
    editor.execute("interleaver.server.explore", json!({ "target": "build/bank", "uri": uri(&source) }));
    let main = workspace.file("src/main.c");
    editor.wait_for_diagnostics(&main, |diagnostics| !diagnostics.is_empty());
    editor.end();

    let mut plain = workspace.editor();
    plain.open(&source);
    let lens = plain.lens(&source, "▶ Explore `bank`, which uses this file");
    assert_eq!(lens["command"]["arguments"][0]["target"], "build/bank");
    plain.end();
}

#[test]
fn a_failure_in_every_schedule_is_told_as_one() {
    let workspace = Workspace::empty();
    let source = workspace.put_bundled("startup/fails_alone.c");
    workspace.compile("fails_alone");
    let mut editor = workspace.editor_with(as_extension());
    editor.open(&source);
    let lens = editor.lens(&source, "▶ Explore");
    editor.click(&lens);
    let diagnostics = editor.wait_for_diagnostics(&source, |diagnostics| !diagnostics.is_empty());
    let message = diagnostics[0]["message"].as_str().unwrap();
    assert!(
        message.starts_with("it fails whatever the schedule, in whatever order threads run: "),
        "{message}"
    );
    assert!(message.contains("\n| "), "{message}");
    assert_eq!(diagnostics[0]["code"], "always-fails");
    editor.wait_for_lens(&source, |title| title == "✗ fails whatever the schedule");
    let set = editor.lens(&source, "Set arguments…");
    assert_eq!(set["command"]["command"], "interleaver.openConfiguration");
    let range = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 999, "character": 0 } });
    let document = json!({ "uri": uri(&source) });
    let hints = editor.request("textDocument/inlayHint", json!({ "textDocument": document, "range": range }));
    assert_eq!(hints, json!([]));
    editor.end();
}

#[test]
fn going_further_allows_another_preemption() {
    let workspace = Workspace::with(&["lost_update_ok"]);
    let source = workspace.file("lost_update_ok.c");
    let mut editor = workspace.editor();
    editor.open(&source);
    let lens = editor.lens(&source, "▶ Explore");
    editor.click(&lens);
    editor.wait_for_lens(&source, |title| title.starts_with("✓ no failure up to 2 preemptions"));
    for expected in ["✓ no failure up to 3 preemptions", "✓ no failure up to 4 preemptions"] {
        let further = editor.lens(&source, "Explore further");
        editor.click(&further);
        editor.wait_for_lens(&source, |title| title.starts_with(expected));
    }
    editor.end();
}

#[test]
fn the_sum_of_what_the_store_counts_is_what_the_program_counted() {
    let workspace = Workspace::copy_of("make-c");
    build(&workspace);
    let count = workspace.file("executions");
    let configuration = format!(
        "[[target]]\nprogram = \"build/bank\"\nenv = {{ COUNT_EXECUTIONS = \"{}\" }}\n",
        count.display()
    );
    workspace.put("interleaver.toml", &configuration);
    let source = workspace.file("src/main.c");
    let mut editor = workspace.editor();
    editor.open(&source);
    let lens = editor.lens(&source, "▶ Explore");
    editor.click(&lens);
    editor.wait_for_lens(&source, |title| title.starts_with('✗'));
    editor.end();
    let last = crate::findings::stores::target(&workspace)["last"].clone();
    let sum: u64 =
        ["schedules", "redundant", "pruned", "other"].iter().map(|key| last[key].as_u64().unwrap()).sum();
    assert_eq!(sum, std::fs::metadata(count).unwrap().len(), "{last}");
}

pub(crate) fn build(workspace: &Workspace) {
    let made = std::process::Command::new("make").arg("-s").current_dir(workspace.path()).status().unwrap();
    assert!(made.success());
}

/// Explores what the first lens of a file stands for, to its end.
pub(crate) fn explore(editor: &mut tests::editor::Editor, source: &std::path::Path) -> Value {
    editor.open(source);
    let lens = editor.lenses(source)[0].clone();
    editor.click(&lens);
    editor.wait_for_lens(source, |title| title.starts_with(['✗', '✓', '?']));
    editor.execute("interleaver.server.tree", json!({}))
}
