//! Causes of failures as people read them, and the same in one run as in the other.

use serde_json::Value;
use tempfile::tempdir;
use tests::{Build, Optimisation, Outcome, Tool, levels, sample};

fn explore(source: &str, level: Optimisation, format: &str) -> Outcome {
    let program = Build::new(source, level).program().unwrap();
    let folder = tempdir().unwrap();
    // All of it, however slow the machine.
    let options = ["explore", "--format", format, "--explain-time", "1h", "--output"];
    let tool = Tool::new(options).and([folder.path(), &program]);
    tool.run().unwrap()
}

/// Without what says where the report lies.
fn explanation(outcome: &Outcome) -> Value {
    let mut explanation = outcome.finding()["explanation"].clone();
    for part in ["pair", "original"] {
        explanation[part]["schedule_file"] = Value::Null;
    }
    explanation
}

#[test]
fn the_explanation_is_the_same_in_every_run() {
    let programs = [
        ("c/work_stealing.c", Optimisation::O0),
        ("cpp/semaphore.cpp", Optimisation::O2),
        ("rust/bounded_queue.rs", Optimisation::O0),
        ("rust/order_violation.rs", Optimisation::O2),
    ];
    for (source, level) in sample(programs, 2) {
        let [one, other] = [(); 2].map(|()| explanation(&explore(source, level, "json")));
        assert!(one["patterns"].as_array().is_some_and(|patterns| !patterns.is_empty()), "{source}: {one}");
        assert_eq!(one, other, "{source}");
    }
}

/// The most suspicious patterns: rank, how many have it, and for each access, thread, what it does, object and line.
fn patterns(outcome: &Outcome) -> Vec<String> {
    let patterns = outcome.finding()["explanation"]["patterns"].as_array().unwrap();
    let words = |access: &Value| {
        let word = |key: &str| access[key].as_str().unwrap_or_default();
        format!("{} {} {} {}", word("thread"), word("access"), word("object"), access["line"])
    };
    let pattern = |pattern: &Value| {
        let accesses: Vec<String> = pattern["accesses"].as_array().unwrap().iter().map(words).collect();
        format!("{}, tied {}: {}", pattern["rank"], pattern["tied"], accesses.join(", "))
    };
    patterns.iter().map(pattern).collect()
}

/// The change of `red` in between shows only where `green` is changed as well: many executions with its pattern pass.
#[test]
fn both_variables_of_the_papers_example_are_to_blame() {
    for level in levels("two_variables") {
        let outcome = explore("c/two_variables.c", level, "json");
        assert_eq!(
            patterns(&outcome),
            [
                "1, tied 1: T2 write `green` 22, T3 write `green` 34, T2 read `green` 24",
                "2, tied 1: T2 write `red` 20, T3 write `red` 32, T2 read `red` 23",
            ],
            "{}",
            outcome.transcript()
        );
    }
}

#[test]
fn accesses_of_a_pattern_have_their_callers() {
    for level in levels("check_then_act") {
        let outcome = explore("c/check_then_act.c", level, "json");
        let accesses = outcome.finding()["explanation"]["patterns"][0]["accesses"].as_array().unwrap();
        let frame = |frame: &Value| format!("{} {}", frame["function"].as_str().unwrap(), frame["line"]);
        let stack = |access: &Value| access["stack"].as_array().unwrap().iter().map(frame).collect();
        let stacks: Vec<Vec<String>> = accesses.iter().map(stack).collect();
        let read: &[&str] = &["current_balance 19", "withdraw 26", "use_card 36"];
        let write: &[&str] = &["withdraw 28", "use_card 36"];
        assert_eq!(stacks, [read, write, write], "{}", outcome.transcript());
    }
}

#[test]
fn people_read_the_sentence_the_pair_and_the_schedule_that_passes() {
    let outcome = explore("c/lost_update.c", Optimisation::O0, "text");
    for part in [
        "\n  why: lost update: T3 reads `page_views` (lost_update.c:19), T2 writes it (lost_update.c:19), and then T3 \
         writes it (lost_update.c:19), which undoes that\n",
        "\nThis schedule passes if these two swap places:\n",
        "\n   ✓ it ends well\n",
        "\nPoint of no return: after it every schedule fails (of random ones ",
        " % before it, 100 % after it)\n  event 3: T2 read `page_views`  in handle_request, ",
        "\nAccesses that tell 2 failing schedules from 2 that pass:\n  1. score 1.00\n       T3 reads `page_views`",
        "\nThe nearest one that passes: interleaver replay ",
    ] {
        assert!(outcome.stdout.contains(part), "{part}\n{}", outcome.transcript());
    }
}

#[test]
fn people_read_who_called() {
    let outcome = explore("c/check_then_act.c", Optimisation::O0, "text");
    let calls: Vec<&str> = outcome.stdout.lines().filter(|line| line.contains("called from")).collect();
    let places = ["withdraw, ", "use_card, ", "use_card, ", "use_card, "];
    let lines = [26, 36, 36, 36];
    assert_eq!(calls.len(), lines.len(), "{}", outcome.transcript());
    for ((call, place), line) in calls.iter().zip(places).zip(lines) {
        assert!(call.starts_with(&format!("         called from {place}")), "{call}");
        assert!(call.ends_with(&format!("check_then_act.c:{line}")), "{call}");
    }
}

/// Executions that are stopped before they create a thread say nothing about the program.
#[test]
fn an_explanation_without_time_does_not_take_the_program_for_one_without_threads() {
    let program = Build::new("c/lost_update.c", Optimisation::O0).program().unwrap();
    let folder = tempdir().unwrap();
    let options = ["explore", "--format", "json", "--explain-time", "1ms", "--output"];
    let outcome = Tool::new(options).and([folder.path(), &program]).run().unwrap();
    assert_eq!(outcome.finding()["kind"], "assertion", "{}", outcome.transcript());
    assert!(!outcome.says("never created a second thread"), "{}", outcome.transcript());
}

/// Its waits are as they should be, and notifications come late in many schedules: neither is why it fails.
#[test]
fn who_looks_again_as_rust_threads_do_is_not_said_to_be_robbed() {
    for level in levels("counts_what_it_took") {
        let outcome = explore("synchronisation/counts_what_it_took.rs", level, "json");
        let sentence = outcome.finding()["explanation"]["sentence"].as_str().unwrap();
        assert!(sentence.starts_with("lost update: ") && sentence.contains("`TAKEN`"), "{sentence}");
    }
}
