//! Tests of every framework, explored by a click: each reports its own bug and no other, or that it did not run.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tests::editor::{Editor, title};
use tests::{Project, Tool};

use crate::workspace::{as_extension, line_of};

/// The tests of one framework, built; the folder of each is a workspace of its own.
fn built(framework: &str) -> Project {
    if framework != "gtest" {
        Project::shared("frameworks", &[&format!("make -s build/{framework}_main.o")]).unwrap();
    }
    let project = Project::shared("test-bugs", &[&format!("make -s {framework}/tests")]).unwrap();
    let store = project.path(framework).join(".interleaver");
    if store.exists() {
        fs::remove_dir_all(store).unwrap();
    }
    project
}

fn editor(folder: &Path, source: &Path) -> Editor {
    let mut editor = Editor::in_process(folder).unwrap();
    editor.begin(as_extension());
    editor.open(source);
    editor
}

/// The first lens of a line, once it fits.
fn lens_at(editor: &mut Editor, source: &Path, line: usize, fits: impl Fn(&str) -> bool) -> Value {
    loop {
        let lenses = editor.lenses(source);
        let mut here = lenses.iter().filter(|lens| lens["range"]["start"]["line"] == line);
        if let Some(lens) = here.find(|lens| fits(&title(lens))) {
            return lens.clone();
        }
        editor.wait_for_method("workspace/codeLens/refresh", |_| true);
    }
}

/// Explores the test in a line, and gives what its lens says then.
fn explore(editor: &mut Editor, source: &Path, line: usize) -> String {
    let lens = lens_at(editor, source, line, |title| title == "▶ Explore interleavings");
    editor.click(&lens);
    title(&lens_at(editor, source, line, |title| title.starts_with(['✗', '✓', '?', '⚠'])))
}

fn lines(diagnostics: &[Value]) -> Vec<usize> {
    let line = |diagnostic: &Value| diagnostic["range"]["start"]["line"].as_u64().unwrap();
    let mut lines: Vec<usize> = diagnostics.iter().map(|one| usize::try_from(line(one)).unwrap()).collect();
    lines.sort_unstable();
    lines
}

/// Explores each test, given by a text in its first line; where one has a bug, that is in the line with the other text.
fn each_finds_its_own(editor: &mut Editor, source: &Path, tests: &[(&str, Option<&str>)]) {
    let mut failing: Vec<usize> = Vec::new();
    for (test, bug) in tests {
        let said = explore(editor, source, line_of(source, test));
        match bug {
            Some(bug) => {
                assert!(said.starts_with("✗ 1 bug · 1 preemption · "), "{test}: {said}");
                failing.push(line_of(source, bug));
            }
            None => assert!(said.starts_with("✓ no failure up to 2 preemptions · "), "{test}: {said}"),
        }
        failing.sort_unstable();
        editor.settled_diagnostics(source, |diagnostics| lines(diagnostics) == failing);
    }
    let tree = editor.execute("interleaver.server.tree", json!({}));
    let targets = tree["targets"].as_array().unwrap();
    let found: usize = targets.iter().map(|target| target["findings"].as_array().unwrap().len()).sum();
    assert_eq!(found, failing.len(), "{tree:#}");
    assert!(targets.iter().all(|target| target["findings"].as_array().unwrap().len() <= 1), "{tree:#}");
}

/// Looks for the lens of a test that cannot be explored as it is.
fn warns(editor: &mut Editor, source: &Path, test: &str, sentence: &str) {
    let lens = lens_at(editor, source, line_of(source, test), |_| true);
    assert_eq!(title(&lens), format!("⚠ {sentence}"));
}

/// The configuration names a test that the program does not have.
fn one_that_does_not_run_is_an_error(editor: &mut Editor, sentence: &str) {
    editor.execute("interleaver.server.explore", json!({ "target": "toml:renamed" }));
    let told = editor.wait_for_method("window/showMessage", |_| true);
    assert_eq!((&told["type"], &told["message"]), (&json!(1), &json!(sentence)));
    editor.wait_for_method("interleaver/status", |status| status["running"] == 0);
    let tree = editor.execute("interleaver.server.tree", json!({}));
    let row =
        tree["targets"].as_array().unwrap().iter().find(|target| target["id"] == "toml:renamed").unwrap();
    assert_eq!((&row["state"], &row["explored"]), (&json!("error"), &Value::Null));
}

#[test]
fn googletest() {
    let project = built("gtest");
    let source = project.path("gtest/tests.cpp");
    let mut editor = editor(&project.path("gtest"), &source);
    let tests = [
        ("TEST(Plain, Loses)", Some("<< \"plain\"")),
        ("TEST(Plain, Counts)", None),
        ("TEST_F(Fixture, Loses)", Some("<< \"fixture\"")),
        ("TEST_P(Values, MayLose)", Some("<< \"value\"")),
        ("TYPED_TEST(Typed, MayLose)", Some("<< \"type\"")),
    ];
    each_finds_its_own(&mut editor, &source, &tests);
    let said = explore(&mut editor, &source, line_of(&source, "TEST(Plain, IsSkipped)"));
    let sentence = "⚠ the test was skipped: GoogleTest ran nothing else with the arguments `--gtest_filter=Plain.IsSkipped`";
    assert_eq!(said, sentence);
    let sentence = "GoogleTest ran no test with the arguments `--gtest_filter=Plain.WasRenamed`: name a test that the program has";
    one_that_does_not_run_is_an_error(&mut editor, sentence);
    editor.end();
}

#[test]
fn catch2() {
    let project = built("catch2");
    let source = project.path("catch2/tests.cpp");
    let mut editor = editor(&project.path("catch2"), &source);
    let tests = [
        ("TEST_CASE(\"a count is lost", Some("// plain")),
        ("TEST_CASE(\"nothing is lost\"", None),
        ("TEST_CASE_METHOD(", Some("// fixture")),
        ("TEMPLATE_TEST_CASE(", Some("// type")),
    ];
    each_finds_its_own(&mut editor, &source, &tests);
    let pattern = "TEST_CASE(\"nothing is lost*\")";
    let other = line_of(&source, "TEST_CASE(\"nothing is lost\")") + 1;
    let sentence = format!(
        "Catch2 cannot run `nothing is lost*` alone, since what selects it selects `nothing is lost` in line {other} of `{}` \
         as well: rename one of them",
        source.display()
    );
    warns(&mut editor, &source, pattern, &sentence);
    // It is listed, since it is there, and so is why it cannot be had.
    let list = Tool::new(["list".as_ref(), project.path("catch2").as_os_str()]).run().unwrap();
    let lines = list.stdout.lines().map(str::trim).collect::<Vec<_>>();
    let refused: Vec<usize> = (0..lines.len()).filter(|&at| lines[at].starts_with("refused: ")).collect();
    assert_eq!(refused.len(), 1, "{}", list.stdout);
    assert_eq!(lines[refused[0]], format!("refused: {sentence}"));
    assert!(lines[refused[0] - 1].contains("#nothing is lost*  "), "{}", list.stdout);
    let sentence = "Catch2 ran no test with the arguments `was renamed`: name a test that the program has";
    one_that_does_not_run_is_an_error(&mut editor, sentence);
    editor.end();
}

#[test]
fn doctest() {
    let project = built("doctest");
    let source = project.path("doctest/tests.cpp");
    let mut editor = editor(&project.path("doctest"), &source);
    let tests = [
        ("TEST_CASE(\"a count is lost", Some("// plain")),
        ("TEST_CASE(\"nothing is lost\"", None),
        ("TEST_CASE_FIXTURE(", Some("// fixture")),
        ("TEST_CASE_TEMPLATE(\"one", Some("// type")),
        ("TEST_CASE(\"nothing is lost*", None),
    ];
    each_finds_its_own(&mut editor, &source, &tests);
    let other = line_of(&source, "TEST_CASE(\"pairs<of>") + 1;
    let sentence = format!(
        "doctest cannot run `pairs` alone, since what selects it selects `pairs<of> nothing` in line {other} of `{}` as well: \
         rename one of them",
        source.display()
    );
    warns(&mut editor, &source, "TEST_CASE_TEMPLATE(\"pairs", &sentence);
    let sentence =
        "doctest ran no test with the arguments `--test-case=was renamed`: name a test that the program has";
    one_that_does_not_run_is_an_error(&mut editor, sentence);
    editor.end();
}

#[test]
fn rust() {
    let project = Project::copy("cargo-tests").unwrap();
    project.run("cargo test -q --offline --no-run").unwrap();
    let source = project.path("src/lib.rs");
    let mut editor = editor(project.root(), &source);
    let tests = [
        ("fn views_are_counted()", None),
        ("fn views_are_lost()", Some("assert_eq!(views_of_two(Views::add), 4)")),
    ];
    each_finds_its_own(&mut editor, &source, &tests);
    editor.end();
}

#[test]
fn a_test_that_did_not_run_is_an_error_and_no_pass() {
    let ignore = "args = [\"--skip\", \"tests::views_are_counted\"]";
    let project = Project::copy("cargo-tests").unwrap();
    project.run("cargo test -q --offline --no-run").unwrap();
    let program = project.run("ls target/debug/deps/cargo_tests-* | grep -v '\\.d$'").unwrap();
    let targets = program.lines().map(|program| format!("[[target]]\nprogram = \"{program}\"\n{ignore}\n"));
    fs::write(project.path("interleaver.toml"), targets.collect::<String>()).unwrap();
    let source = project.path("src/lib.rs");
    let mut editor = editor(project.root(), &source);
    let said = explore(&mut editor, &source, line_of(&source, "fn views_are_counted()"));
    assert!(said.starts_with("⚠ Rust's test harness ran no test with the arguments `--exact "), "{said}");
    assert!(said.ends_with(": name a test that the program has"), "{said}");
    editor.end();
}
