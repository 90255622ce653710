//! Programs whose threads end otherwise than by returning: main leaves before the others, another thread ends the process, or
//! a thread is cancelled.

use std::ffi::OsStr;
use std::path::Path;

use serde_json::json;
use tests::{Build, Optimisation, Outcome, Tool, levels, running, sample};

/// Explores `endings/<name>.c` at every optimisation, and hands each report to `check`; nothing is left running.
fn explore(name: &str, check: impl Fn(&Outcome)) {
    explore_with(|level| Build::new(format!("endings/{name}.c"), level), check);
}

/// The same for `endings/cancelled.c`, whose thread does this.
fn explore_cancelled(act: &str, check: impl Fn(&Outcome)) {
    explore_with(|level| Build::new("endings/cancelled.c", level).flag(&format!("-DACT={act}")), check);
}

fn explore_with(build: impl Fn(Optimisation) -> Build, check: impl Fn(&Outcome)) {
    each(build, |options, program| Tool::explore(options, program), check);
}

/// The same with the simplest schedule of what is found.
fn explain_with(build: impl Fn(Optimisation) -> Build, check: impl Fn(&Outcome)) {
    each(build, |options, program| Tool::explain(options, program), check);
}

fn each(
    build: impl Fn(Optimisation) -> Build,
    tool: impl Fn([&OsStr; 4], &Path) -> Tool,
    check: impl Fn(&Outcome),
) {
    for level in Optimisation::ALL {
        let program = build(level).program().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let options =
            ["--run-timeout".as_ref(), "2s".as_ref(), "--output".as_ref(), folder.path().as_os_str()];
        let outcome = tool(options, &program).run().unwrap();
        assert_eq!(running(&program), [] as [i32; 0], "{}", outcome.transcript());
        check(&outcome);
    }
}

fn clean(outcome: &Outcome) {
    assert_eq!(outcome.code, 0, "{}", outcome.transcript());
    assert_eq!(outcome.report["verdict"], "clean", "{}", outcome.transcript());
}

#[test]
fn others_fail_after_main_has_left() {
    explain_with(
        |level| Build::new("endings/main_leaves.c", level),
        |outcome| {
            assert_eq!(outcome.code, 1, "{}", outcome.transcript());
            let finding = outcome.finding();
            assert_eq!(finding["kind"], "assertion", "{}", outcome.transcript());
            assert_eq!(finding["function"], "check", "{}", outcome.transcript());
            assert_eq!(finding["preemptions"], 1, "{}", outcome.transcript());
            assert_eq!(finding["reproduced"], "2/2", "{}", outcome.transcript());
        },
    );
}

/// `endings/main_exits_alone.c`, whose main thread ends with this code.
fn explore_alone(flags: &[&str], check: impl Fn(&Outcome)) {
    let source = "endings/main_exits_alone.c";
    explore_with(|level| flags.iter().fold(Build::new(source, level), |build, flag| build.flag(flag)), check);
}

#[test]
fn others_fail_after_main_has_ended_alone() {
    let build = |level| Build::new("endings/main_exits_alone.c", level).flag("-DCODE=0").flag("-DFAILS");
    explain_with(build, |outcome| {
        assert_eq!(outcome.code, 1, "{}", outcome.transcript());
        let finding = outcome.finding();
        assert_eq!((&finding["kind"], &finding["function"]), (&json!("assertion"), &json!("check")));
        assert_eq!((&finding["preemptions"], &finding["reproduced"]), (&json!(1), &json!("2/2")));
    });
}

#[test]
fn others_go_on_after_main_has_ended_alone() {
    explore_alone(&["-DCODE=0"], clean);
}

#[test]
fn the_exit_code_is_that_of_a_main_thread_that_ended_alone() {
    explore_alone(&["-DCODE=3"], |outcome| {
        assert_eq!(outcome.code, 1, "{}", outcome.transcript());
        let finding = outcome.finding();
        assert_eq!(finding["kind"], "always-fails", "{}", outcome.transcript());
        assert!(finding["message"].as_str().unwrap().contains("exit code 3"), "{}", outcome.transcript());
    });
}

#[test]
fn two_lines_that_return_the_same_code_are_two_findings() {
    let source = "endings/two_returns.c";
    let text = std::fs::read_to_string(tests::targets().join(source)).unwrap();
    let line = |words| text.lines().position(|line| line.contains(words)).unwrap() as u64 + 1;
    for level in levels(source) {
        let program = Build::new(source, level).program().unwrap();
        // An optimised program has the value at hand before it compares: the conditions are its last lines.
        let before = if level == Optimisation::O0 { 0 } else { 1 };
        for workers in sample(["1", "2"], 2) {
            let folder = tempfile::tempdir().unwrap();
            let output = folder.path().to_string_lossy().into_owned();
            let options = ["--keep-going", "--workers", workers, "--output", &output];
            let outcome = Tool::explore(options, &program).run().unwrap();
            let findings = outcome.report["findings"].as_array().cloned().unwrap_or_default();
            let mut lines: Vec<u64> =
                findings.iter().filter_map(|finding| finding["line"].as_u64()).collect();
            lines.sort_unstable();
            let expected = [line("/* FIRST */") - before, line("/* SECOND */") - before];
            assert_eq!(lines, expected, "{}", outcome.transcript());
            assert_eq!(findings.len(), 2, "{}", outcome.transcript());
            let kept = std::fs::read_dir(folder.path().join("findings")).unwrap().count();
            assert_eq!(kept, 2, "{}", outcome.transcript());
            let schedule = findings[0]["schedule_file"].as_str().unwrap();
            let replayed = Tool::new(["replay", "--format", "json", schedule]).run().unwrap();
            assert_eq!(replayed.finding()["line"], findings[0]["line"], "{}", replayed.transcript());
        }
    }
}

#[test]
fn others_wait_after_main_has_left() {
    explore("main_leaves_ok", clean);
}

#[test]
fn another_thread_ends_the_process_after_main_has_left() {
    explore("main_leaves_exit", clean);
}

#[test]
fn a_robust_mutex_of_main_is_inherited() {
    explore("main_leaves_mutex", clean);
}

#[test]
fn what_comes_after_the_end_of_the_process_does_not_always_fail() {
    explore("exits_by_another", |outcome| {
        assert_eq!(outcome.code, 1, "{}", outcome.transcript());
        assert_eq!(outcome.finding()["kind"], "exit-code", "{}", outcome.transcript());
    });
}

#[test]
fn a_thread_is_cancelled_before_or_while_it_waits_for_a_condition() {
    explore_cancelled("WAIT", clean);
}

#[test]
fn a_thread_is_cancelled_while_it_sleeps() {
    explore_cancelled("SLEEP", clean);
}

#[test]
fn a_thread_is_cancelled_while_it_reads() {
    explore_cancelled("READ", clean);
}

#[test]
fn a_thread_asks_whether_it_is_cancelled() {
    explore_cancelled("ASK", clean);
}

#[test]
fn the_wait_for_a_mutex_is_no_cancellation_point() {
    explore_cancelled("LOCK", clean);
}

#[test]
fn a_thread_is_not_cancelled_while_it_does_not_allow_it() {
    explore_cancelled("REFUSE", clean);
}

#[test]
fn a_calculation_that_only_a_cancellation_ends_is_refused() {
    explore_cancelled("CALCULATE", |outcome| {
        assert_eq!(outcome.code, 3, "{}", outcome.transcript());
        assert!(outcome.says("asynchronous cancellation"), "{}", outcome.transcript());
    });
}

/// The words of a panic are those of the failure, and not the advice that the library prints behind them.
#[test]
fn a_panic_that_aborts_is_told_by_its_message() {
    let build = |level| Build::new("rust/lost_update.rs", level).flag("-Cpanic=abort");
    explore_with(build, |outcome| {
        let finding = outcome.finding();
        let message = finding["message"].as_str().unwrap_or_default();
        assert_eq!((outcome.code, &finding["kind"]), (1, &json!("panic")), "{}", outcome.transcript());
        assert!(message.contains("assertion `left == right` failed"), "{}", outcome.transcript());
    });
}
