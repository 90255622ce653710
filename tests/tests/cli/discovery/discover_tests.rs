//! Tests in real test binaries are found, each at its line, and what selects one selects it alone.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use explorer::config::Config;
use explorer::discover::{Framework, Target, Workspace};
use tests::Project;

/// The tests in every program of a workspace; the programs that users start have none, and are left out.
fn tests_in(root: &Path) -> BTreeMap<PathBuf, Vec<Target>> {
    let workspace = Workspace::scan(root, &Config::default());
    let mut found: BTreeMap<PathBuf, Vec<Target>> = BTreeMap::new();
    for candidate in workspace.candidates() {
        let tests = workspace.targets_in(candidate).into_iter().filter(|target| target.test.is_some());
        found.entry(candidate.path.clone()).or_default().extend(tests);
    }
    found.retain(|_, tests| !tests.is_empty());
    found
}

fn run(program: &Path, target: Option<&Target>, more: &[&str]) -> String {
    let mut command = Command::new(program);
    if let Some(target) = target {
        command.args(&target.arguments).current_dir(&target.directory).envs(target.variables.iter().cloned());
    }
    let output = command.args(more).output().unwrap();
    // Catch2's exit code is the number of what it lists.
    assert!(
        output.status.success() || !more.is_empty(),
        "{command:?}: {}",
        String::from_utf8_lossy(&output.stdout)
    );
    String::from_utf8(output.stdout).unwrap()
}

/// The tests that a framework itself says it would run.
fn listed(framework: Framework, program: &Path, target: Option<&Target>) -> Vec<String> {
    let text = |more: &[&str]| run(program, target, more);
    let mut names: Vec<String> = match framework {
        Framework::GoogleTest => {
            let mut suite = String::new();
            let mut names = Vec::new();
            for line in text(&["--gtest_list_tests"]).lines().filter(|line| !line.starts_with("Running main"))
            {
                let word = line.split('#').next().unwrap_or_default().trim_end();
                match word.strip_prefix("  ") {
                    Some(test) => names.push(format!("{suite}{test}")),
                    None => word.clone_into(&mut suite),
                }
            }
            names
        }
        Framework::Catch2 => {
            text(&["--list-test-names-only"]).lines().map(|line| line.trim().to_owned()).collect()
        }
        Framework::Doctest => {
            let text = text(&["--list-test-cases"]);
            text.lines()
                .filter(|line| !line.starts_with("[doctest]") && !line.starts_with("===="))
                .map(str::to_owned)
                .collect()
        }
        Framework::Rust => {
            let text = text(&["--list"]);
            text.lines().filter_map(|line| line.strip_suffix(": test").map(str::to_owned)).collect()
        }
    };
    names.retain(|name| !name.is_empty());
    names.sort();
    names
}

/// Checks that the targets of each program select its tests: all of them, and each once.
fn cover(root: &Path, programs: usize) {
    let found = tests_in(root);
    assert_eq!(found.len(), programs, "{:?}", found.keys());
    for (program, targets) in found {
        let framework = targets[0].test.as_ref().unwrap().framework;
        let all = listed(framework, &program, None);
        let mut selected = Vec::new();
        for target in &targets {
            let names = listed(framework, &program, Some(target));
            assert!(!names.is_empty(), "{} selects nothing with {:?}", target.id, target.arguments);
            selected.extend(names);
            // It does run.
            run(&program, Some(target), &[]);
        }
        selected.sort();
        assert_eq!(selected, all, "{}", program.display());
        let mut ids: Vec<_> = targets.iter().map(|target| &target.id).collect();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), targets.len());
    }
}

/// The name and the line of each test in the freshest program that has it.
fn places(root: &Path, program: &str) -> Vec<(u32, String)> {
    let found = tests_in(root);
    let targets = &found[&root.join(program)];
    targets.iter().map(|target| (target.at.as_ref().unwrap().line, target.label.clone())).collect()
}

/// The lines of a source that call a macro of a test, or that follow `#[test]`.
fn lines_with(file: &Path, marks: &[&str]) -> Vec<u32> {
    let text = std::fs::read_to_string(file).unwrap();
    let lines = (1..).zip(text.lines());
    lines
        .filter(|(_, line)| marks.iter().any(|mark| line.trim_start().starts_with(mark)))
        .map(|(n, _)| n)
        .collect()
}

#[test]
fn every_macro_of_every_framework() {
    let project = Project::shared("frameworks", &["make -s"]).unwrap();
    cover(project.root(), 6);
    let marks = ["TEST", "SCENARIO", "TYPED_TEST(", "TYPED_TEST_P", "TEMPLATE_TEST_CASE", "MY_TEST"];
    for level in ["O0", "O2"] {
        for name in ["gtest_tests", "catch2_tests", "doctest_tests"] {
            let source = project.path(&format!("{name}.cpp"));
            let mut expected = lines_with(&source, &marks);
            let suites = lines_with(&source, &["TEST_SUITE("]);
            expected.retain(|line| !suites.contains(line));
            // A test in a suite is indented as the only one.
            let found = places(project.root(), &format!("build/{level}/{name}"));
            let lines: Vec<u32> = found.iter().map(|(line, _)| *line).collect();
            assert_eq!(lines, expected, "{name} at {level}: {found:?}");
        }
    }
}

#[test]
fn names_are_those_of_the_frameworks() {
    let project = Project::shared("frameworks", &["make -s"]).unwrap();
    let names =
        |program: &str| places(project.root(), program).into_iter().map(|(_, name)| name).collect::<Vec<_>>();
    for level in ["O0", "O2"] {
        assert_eq!(
            names(&format!("build/{level}/gtest_tests")),
            [
                "Plain.Adds",
                "With_Underscores.In_Names",
                "With.Underscores_Too",
                "Plain.DISABLED_Adds",
                "Fixture.IsUsed",
                "Values.AreTaken/*",
                "Typed/*.Counts",
                "Later/*.Counts",
                "Own.Macro",
            ]
        );
        assert_eq!(
            names(&format!("build/{level}/catch2_tests")),
            [
                "one thread adds",
                "one thread adds, [twice]: \"a\" * b",
                "one thread adds in two literals",
                "Scenario: a queue is filled",
                "a fixture is used",
                "types are counted",
            ]
        );
    }
}

#[test]
fn tests_of_cargo_with_their_modules() {
    let project = Project::shared("cargo-tests", &["cargo test -q --offline --no-run", PROFILE]).unwrap();
    cover_rust(&project);
}

/// Optimised, with lines.
const PROFILE: &str = "cargo test -q --offline --no-run --release --config profile.release.debug=true";

fn cover_rust(project: &Project) {
    // The library's tests and the two files of tests, in both profiles.
    let found = tests_in(project.root());
    let passing = |target: &&Target| !target.id.ends_with("views_are_lost");
    for (program, targets) in &found {
        let mut selected: Vec<String> =
            targets.iter().flat_map(|target| listed(Framework::Rust, program, Some(target))).collect();
        selected.sort();
        assert_eq!(selected, listed(Framework::Rust, program, None), "{}", program.display());
        for target in targets.iter().filter(passing) {
            let said = run(program, Some(target), &[]);
            assert!(said.contains("running 1 test") && said.contains("1 passed"), "{said}");
        }
        for target in targets {
            let at = target.at.as_ref().unwrap();
            let text = std::fs::read_to_string(&at.file).unwrap();
            let line = text.lines().nth(at.line as usize - 1).unwrap();
            let name = target.label.rsplit("::").next().unwrap();
            assert!(line.contains(&format!("fn {name}(")), "{}: {line}", target.id);
        }
    }
    assert_eq!(found.len(), 6, "{:?}", found.keys());
    let mut ids: Vec<&str> = found.values().flatten().map(|target| target.id.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(
        ids,
        [
            "cargo:cargo-tests:lib:cargo_tests#tests::views_are_counted",
            "cargo:cargo-tests:lib:cargo_tests#tests::views_are_lost",
            "cargo:cargo-tests:test:crowd#a_crowd_is_counted",
            "cargo:cargo-tests:test:views#a_page_starts_unseen",
            "cargo:cargo-tests:test:views#nested::two_threads_are_counted",
        ]
    );
}
