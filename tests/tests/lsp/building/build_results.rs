//! Results of a build: programs, errors in their lines, or nothing that was asked for.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tests::editor::{Editor, title, uri};

use crate::exploring::explore;
use crate::findings::after_edits::run_build;
use crate::workspace::{Workspace, as_extension, line_of};

const PRESETS: &str = r#"{
  "version": 3,
  "configurePresets": [
    { "name": "plain", "generator": "Unix Makefiles", "binaryDir": "${sourceDir}/out/plain" },
    {
      "name": "check", "generator": "Unix Makefiles", "binaryDir": "${sourceDir}/out/check",
      "cacheVariables": { "CMAKE_BUILD_TYPE": "Debug", "DOOR_TESTS": "ON" }
    }
  ]
}
"#;

fn builder(workspace: &Workspace) -> Editor {
    workspace
        .editor_with(as_extension())
        .answering(|method, params| (method == "interleaver/build").then(|| run_build(params)))
}

fn commands(editor: &Editor) -> Vec<&str> {
    let builds = editor.told.iter().filter(|told| told["method"] == "interleaver/build");
    builds.map(|told| told["params"]["command"].as_str().unwrap()).collect()
}

#[test]
fn a_build_that_makes_no_program_of_the_file_says_so_and_another_command_can_be_set() {
    let workspace = Workspace::copy_of("cmake-option");
    let source = workspace.file("door_test.cpp");
    let mut editor = builder(&workspace);
    editor.open(&source);
    let lens = editor.lens(&source, "▶ Build, then explore interleavings");
    editor.click(&lens);
    let told = editor.wait_for_method("window/showMessage", |_| true);
    let said = "the build `cmake -B build -DCMAKE_BUILD_TYPE=Debug && cmake --build build` has made no program of \
                `door_test.cpp`: say how it is built, as `build = \"…\"` in interleaver.toml";
    assert_eq!(told["message"], said);
    editor.wait_for_lens(&source, |title| title == format!("⚠ {said}"));
    let why = editor.execute("interleaver.server.whyNoLens", json!({ "uri": uri(&source) }));
    assert_eq!(why["sentence"], said);

    let set = editor.lens(&source, "Set the build command…");
    assert_eq!(set["command"]["command"], "interleaver.openConfiguration");
    let place = editor.execute("interleaver.server.configuration", set["command"]["arguments"][0].clone());
    let (text, line) = (place["text"].as_str().unwrap(), place["line"].as_u64().unwrap());
    assert_eq!((text, line), ("build = \"cmake --build build\"\nexplain-time = \"1s\"\n", 0));
    let command = "cmake -B build -DCMAKE_BUILD_TYPE=Debug -DDOOR_TESTS=ON && cmake --build build";
    let configuration = workspace.put("interleaver.toml", &text.replace("cmake --build build", command));
    let changed = json!({ "uri": uri(&configuration), "type": 1 });
    editor.notify("workspace/didChangeWatchedFiles", json!({ "changes": [changed] }));
    let lens = editor.lens(&source, "▶ Build, then explore interleavings");
    editor.click(&lens);
    editor.wait_for_lens(&source, |title| title.starts_with("✗ 1 bug"));
    assert_eq!(commands(&editor).last(), Some(&command));
    editor.end();
}

/// The file and line of each diagnostic of a file, with its message.
fn told(diagnostics: &[Value]) -> Vec<(u64, &str)> {
    let line = |one: &Value| one["range"]["start"]["line"].as_u64().unwrap();
    diagnostics.iter().map(|one| (line(one), one["message"].as_str().unwrap())).collect()
}

#[test]
fn presets_are_used_and_a_test_that_fails_in_a_header_is_marked_too() {
    let workspace = Workspace::copy_of("cmake-option");
    workspace.put("CMakePresets.json", PRESETS);
    let source = workspace.file("door_test.cpp");
    let header = workspace.file("passing.hpp");
    let mut editor = builder(&workspace);
    explore(&mut editor, &source);
    assert_eq!(commands(&editor), ["cmake --preset check && cmake --build out/check"]);
    let failing = line_of(&header, "EXPECT_EQ(passed, 2)") as u64;
    let in_header = editor.settled_diagnostics(&header, |diagnostics| diagnostics.len() == 1);
    assert_eq!(told(&in_header)[0].0, failing);
    let at_test = editor.settled_diagnostics(&source, |diagnostics| diagnostics.len() == 1);
    let [(line, message)] = told(&at_test)[..] else { unreachable!() };
    assert_eq!(line, line_of(&source, "TEST(Door") as u64);
    assert!(message.starts_with("`Door.CountsBoth` fails elsewhere: "), "{message}");
    let leads_to = &at_test[0]["relatedInformation"][0]["location"];
    assert_eq!(
        (&leads_to["uri"], &leads_to["range"]["start"]["line"]),
        (&json!(uri(&header)), &json!(failing))
    );
    editor.end();
}

#[test]
fn compile_errors_stand_in_their_lines_until_the_next_build() {
    for options in [json!({}), as_extension()] {
        let workspace = Workspace::copy_of("make-c");
        let source = workspace.file("src/main.c");
        let text = fs::read_to_string(&source).unwrap();
        fs::write(&source, format!("{text}\nno_such_type broken;\n")).unwrap();
        let mut editor = workspace.editor_with(options).answering(|method, params| match method {
            "window/showMessageRequest" => Some(json!({ "title": "Build" })),
            "interleaver/build" => Some(run_build(params)),
            _ => None,
        });
        editor.open(&source);
        let lens = editor.lens(&source, "▶ Build");
        editor.click(&lens);
        let found = editor.wait_for_diagnostics(&source, |diagnostics| !diagnostics.is_empty());
        let [(line, message)] = told(&found)[..] else { panic!("{found:#?}") };
        assert_eq!(line, line_of(&source, "no_such_type") as u64);
        assert!(message.starts_with("unknown type name"), "{message}");
        assert_eq!((&found[0]["severity"], &found[0]["code"]), (&json!(1), &json!("build")));

        fs::write(&source, &text).unwrap();
        editor.change(&source, 2, &text);
        editor.notify("textDocument/didSave", json!({ "textDocument": { "uri": uri(&source) } }));
        let lens = editor.lens(&source, "▶ ");
        editor.click(&lens);
        editor.wait_for_lens(&source, |title| title.starts_with("✗ 1 bug"));
        let now = editor.diagnostics(&source);
        assert!(now.iter().all(|one| one["code"] == "assertion"), "{now:#?}");
        editor.end();
    }
}

#[test]
fn a_command_that_the_user_has_changed_is_the_one_that_is_told() {
    let workspace = Workspace::copy_of("make-c");
    let source = workspace.file("src/main.c");
    let mut editor = workspace.editor_with(as_extension()).answering(|method, _| {
        let answer =
            json!({ "ran": true, "exitCode": 2, "output": "make: *** no rule", "command": "make all" });
        (method == "interleaver/build").then_some(answer)
    });
    editor.open(&source);
    let lens = editor.lens(&source, "▶ Build");
    editor.click(&lens);
    let told = editor.wait_for_method("window/showMessage", |_| true);
    assert_eq!(told["message"], "the build `make all` failed: make: *** no rule");
    editor.end();
}

fn titles(editor: &mut Editor, source: &Path) -> Vec<String> {
    editor.lenses(source).iter().map(title).collect()
}

#[test]
fn what_was_dismissed_stays_dismissed_until_it_is_restored() {
    let workspace = Workspace::with(&["lost_update"]);
    let source = workspace.file("lost_update.c");
    let mut editor = workspace.editor_with(as_extension());
    let found = explore(&mut editor, &source);
    let finding = &found["targets"][0]["findings"][0]["id"];
    editor.execute("interleaver.server.dismiss", json!({ "finding": finding }));
    let dismissed = editor.lens(&source, "? 1 failure dismissed · ");
    editor.click(&dismissed);
    editor.wait_for_method("interleaver/status", |status| status["running"] == 0);
    let after = titles(&mut editor, &source);
    assert!(after[0].starts_with("? 1 failure dismissed · "), "{after:?}");
    assert_eq!(after[1..], ["Restore what was dismissed", "Explore further"]);
    assert_eq!(editor.diagnostics(&source), [] as [Value; 0]);
    let restore = editor.lens(&source, "Restore what was dismissed");
    editor.click(&restore);
    editor.wait_for_lens(&source, |title| title.starts_with("✗ 1 bug"));
    editor.end();
}
