//! Tests of a test framework are explored one at a time, each as if its framework were not there.

use std::collections::BTreeSet;

use serde_json::Value;
use tests::{Build, Found, Optimisation, Outcome, Tool, levels, sample};

fn explore(test: &str, optimisation: Optimisation) -> Outcome {
    explore_by("auto", test, optimisation)
}

fn explore_by(strategy: &str, test: &str, optimisation: Optimisation) -> Outcome {
    explore_as(&["--exact", test, "--nocapture", "--test-threads=1"], strategy, optimisation)
}

fn explore_as(arguments: &[&str], strategy: &str, optimisation: Optimisation) -> Outcome {
    let program = Build::new("frameworks/rust_tests.rs", optimisation).flag("--test").program().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let options = ["--strategy".as_ref(), strategy.as_ref(), "--output".as_ref(), folder.path().as_os_str()];
    Tool::explore(options, &program).and(arguments).run().unwrap()
}

fn lanes(outcome: &Outcome) -> Vec<(String, String)> {
    let text = |lane: &Value, member: &str| lane[member].as_str().unwrap_or_default().to_owned();
    let lanes = outcome.finding()["lanes"].as_array().cloned().unwrap_or_default();
    lanes.iter().map(|lane| (text(lane, "thread"), text(lane, "path"))).collect()
}

fn lane(thread: &str, path: &str) -> (String, String) {
    (thread.to_owned(), path.to_owned())
}

#[test]
fn a_rust_test_is_found_to_fail_without_its_harness() {
    for optimisation in levels("loses_an_update") {
        let outcome = explore("loses_an_update", optimisation);
        assert_eq!(outcome.code, 1, "{}", outcome.transcript());
        let finding = outcome.finding();
        assert_eq!(finding["kind"], "panic", "{}", outcome.transcript());
        assert_eq!(finding["reproduced"], "2/2", "{}", outcome.transcript());
        assert_eq!(finding["line"], 15, "{}", outcome.transcript());
        assert_eq!(lanes(&outcome), [lane("T1", "main/1"), lane("T2", "main/1/1")]);
    }
}

#[test]
fn a_correct_rust_test_has_the_schedules_of_its_own_threads_only() {
    for optimisation in levels("adds") {
        let outcome = explore("adds", optimisation);
        assert_eq!(outcome.code, 0, "{}", outcome.transcript());
        assert_eq!(outcome.report["covered"]["everything"], true, "{}", outcome.transcript());
        // Two additions in either order.
        assert_eq!(outcome.report["schedules"], 2, "{}", outcome.transcript());
    }
}

#[test]
fn a_deadlock_in_a_rust_test_has_no_part_for_the_harness() {
    for optimisation in levels("locks_in_two_orders") {
        let outcome = explore("locks_in_two_orders", optimisation);
        assert_eq!(outcome.code, 1, "{}", outcome.transcript());
        assert_eq!(outcome.finding()["kind"], "deadlock", "{}", outcome.transcript());
        let message = outcome.finding()["message"].as_str().unwrap_or_default();
        assert!(message.starts_with("deadlock: T1 and T2 wait for each other"), "{message}");
        assert!(!message.contains("harness"), "{message}");
        assert_eq!(outcome.finding()["parties"].as_array().map(Vec::len), Some(2));
    }
}

#[test]
fn what_a_rust_test_may_do_is_no_failure() {
    for test in ["panics_as_it_should", "leaves_a_thread_behind"] {
        for optimisation in sample(Optimisation::ALL, 2) {
            // A thread that yields for ever is one of a thousand key points, and of hundreds of schedules.
            let outcome = explore_by("icb", test, optimisation);
            assert_eq!(outcome.code, 0, "{}", outcome.transcript());
        }
    }
}

/// The harness captures the output of threads in one buffer, which the standard library locks.
#[test]
fn threads_of_a_rust_test_print_in_turns() {
    for optimisation in levels("prints_from_two_threads") {
        let arguments = ["--exact", "prints_from_two_threads", "--test-threads=1"];
        let outcome = explore_as(&arguments, "auto", optimisation);
        let races = outcome.report["races"].as_array().map(Vec::len);
        assert_eq!((outcome.code, races), (0, Some(0)), "{}", outcome.transcript());
        assert_eq!(outcome.report["schedules"], 2, "{}", outcome.transcript());
    }
}

#[test]
fn a_rust_test_that_fails_without_a_panic_fails_at_its_last_line() {
    for (test, words) in
        [("returns_an_error", "RETURNS AN ERROR"), ("does_not_always_panic", "DOES NOT PANIC")]
    {
        let line = line_with("frameworks/rust_tests.rs", words);
        for optimisation in levels(test) {
            let outcome = explore(test, optimisation);
            let finding = outcome.finding();
            assert_eq!(finding["kind"], "exit-code", "{}", outcome.transcript());
            assert_eq!(finding["line"], line, "{}", outcome.transcript());
        }
    }
}

#[test]
fn a_saved_schedule_has_the_place_of_each_event_also_after_what_the_harness_does() {
    let source = "frameworks/left_behind.rs";
    let program = Build::new(source, Optimisation::O0).flag("--test").program().unwrap();
    let arguments = ["--exact", "is_overtaken", "--nocapture", "--test-threads=1"];
    let found = Found::with_arguments(program, &tests::targets().join(source), &arguments);
    let saved: Value = serde_json::from_slice(&std::fs::read(&found.schedule).unwrap()).unwrap();
    let choices = saved["choices"].as_array().unwrap();
    let harness = choices.iter().position(|choice| choice["thread"] == "main").unwrap();
    let of_harness = choices[harness]["at"].as_str().unwrap();
    assert!(!of_harness.contains("left_behind"), "{of_harness}");
    let saved = |choice: &Value| {
        let [operation, at] = ["operation", "at"].map(|member| choice[member].as_str().unwrap().to_owned());
        (operation, at.rsplit_once(':').unwrap().1.parse().unwrap())
    };
    let later: Vec<(String, u64)> = choices[harness + 1..].iter().take(4).map(saved).collect();
    let [step, wait] = ["// STEP", "// WAIT"].map(|words| found.line(words));
    let expected = [("timeout", wait), ("reacquire", wait), ("update", step), ("cond-wait", wait)];
    assert_eq!(later, expected.map(|(operation, line)| (operation.to_owned(), line)));
}

/// The number of the line with these words.
fn line_with(source: &str, words: &str) -> u64 {
    let text = std::fs::read_to_string(tests::targets().join(source)).unwrap();
    text.lines().position(|line| line.contains(words)).unwrap() as u64 + 1
}

/// The lines of the findings, and how many names they have in the store.
fn findings(outcome: &Outcome) -> (Vec<u64>, usize) {
    let findings = outcome.report["findings"].as_array().cloned().unwrap_or_default();
    let mut lines: Vec<u64> = findings.iter().filter_map(|finding| finding["line"].as_u64()).collect();
    lines.sort_unstable();
    let names: BTreeSet<_> = findings.iter().filter_map(|finding| finding["id"].as_str()).collect();
    (lines, names.len())
}

#[test]
fn two_expectations_that_fail_in_different_executions_are_two_findings() {
    let gtest = "-Wl,--push-state,--whole-archive,-lgtest,-lgtest_main,--pop-state";
    let source = "frameworks/two_expectations.cpp";
    let lines = ["// FIRST", "// SECOND"].map(|words| line_with(source, words));
    for (framework, library, arguments) in [
        ("-DWITH_GTEST", gtest, ["--gtest_filter=Both.Count"].as_slice()),
        ("-DWITH_CATCH2", "-lCatch2WithMain", &["Count"]),
        ("-DWITH_DOCTEST", "", &["--test-case=Count", "--no-breaks=true"]),
    ] {
        let flags = library.split_whitespace();
        let build = flags.fold(Build::new(source, Optimisation::O0).flag(framework), Build::flag);
        let program = build.program().unwrap();
        // The others run what the search has handed out, and it takes in what they found.
        for workers in sample(["1", "2"], 2) {
            let folder = tempfile::tempdir().unwrap();
            let output = folder.path().to_string_lossy().into_owned();
            let options = ["--keep-going", "--workers", workers, "--output", &output];
            let outcome = Tool::explore(options, &program).and(arguments).run().unwrap();
            assert_eq!(outcome.code, 1, "{}", outcome.transcript());
            assert_eq!(findings(&outcome), (lines.to_vec(), 2), "{framework}\n{}", outcome.transcript());
        }
    }
}

#[test]
fn a_run_of_a_second_test_is_an_error_where_one_was_chosen() {
    let program = Build::new("frameworks/doctest_expectation.cpp", Optimisation::O0).program().unwrap();
    // A checkout of its own, with the store in it.
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("interleaver.toml"), "").unwrap();
    let copy = folder.path().join("tests");
    std::fs::copy(program, &copy).unwrap();
    let filter = "--test-case=counts twice,counts";
    for (target, is_error) in [("tests#counts", true), ("toml:both", false)] {
        let tool = Tool::new(["explore", "--target", target, "--format", "json", "--no-explain"]);
        let outcome = tool.and(["--".as_ref(), copy.as_os_str(), filter.as_ref()]).run().unwrap();
        let sentence = format!("doctest ran 2 tests with the arguments `{filter}`, which are to select one");
        assert_eq!(outcome.says(&sentence), is_error, "{}", outcome.transcript());
        assert_eq!(outcome.code, if is_error { 3 } else { 1 }, "{}", outcome.transcript());
    }
}
