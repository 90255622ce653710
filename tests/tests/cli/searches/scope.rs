//! `--scope sync` on real programs: threads are switched at synchronisation only, and data races say whether that was enough.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tests::{Build, Optimisation, Outcome, Tool, levels, sample};

fn explore(program: &Path, options: &[&str]) -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let place = ["--output".as_ref(), folder.path().as_os_str()];
    let options = place.into_iter().chain(options.iter().map(AsRef::as_ref));
    Tool::explore(options, program).run().unwrap()
}

fn build(source: &str, level: Optimisation) -> PathBuf {
    Build::new(source, level).program().unwrap()
}

/// Number of executions that the search itself took.
fn executions(outcome: &Outcome) -> u64 {
    let count =
        |member: &str| outcome.report[member].as_u64().unwrap_or_else(|| panic!("{}", outcome.transcript()));
    count("schedules") + count("redundant") + count("pruned")
}

/// The failures that are found: kinds and lines, without the schedules.
fn failures(outcome: &Outcome) -> Vec<(Value, Value)> {
    let findings =
        outcome.report["findings"].as_array().unwrap_or_else(|| panic!("{}", outcome.transcript()));
    findings.iter().map(|finding| (finding["kind"].clone(), finding["line"].clone())).collect()
}

/// Without races, fewer executions come to the same.
fn comes_to_the_same_with_fewer(source: &str) {
    for level in levels(source) {
        let program = build(source, level);
        let wide = explore(&program, &["--keep-going", "--strategy", "icb"]);
        let narrow = explore(&program, &["--keep-going", "--scope", "sync"]);
        let at = format!("{source} {}: {}{}", level.name(), wide.transcript(), narrow.transcript());
        assert!(executions(&narrow) < executions(&wide), "{at}");
        assert_eq!((narrow.code, &narrow.report["verdict"]), (wide.code, &wide.report["verdict"]), "{at}");
        assert_eq!(narrow.report["covered"]["preemptions"], json!(2), "{at}");
        assert_eq!(failures(&narrow), failures(&wide), "{at}");
        let scope = &narrow.report["at_synchronisation"];
        assert_eq!(scope["suffices"], json!(true), "{at}");
        assert_eq!(scope["covered"], narrow.report["covered"], "{at}");
        assert_eq!(wide.report["at_synchronisation"], Value::Null, "{at}");
    }
}

#[test]
fn a_correct_program_without_races_is_covered_with_fewer_executions() {
    comes_to_the_same_with_fewer("c/barrier_ok.c");
    comes_to_the_same_with_fewer("cpp/double_checked_ok.cpp");
    comes_to_the_same_with_fewer("rust/reader_writer_ok.rs");
}

#[test]
fn a_failure_without_races_is_found_with_fewer_executions() {
    comes_to_the_same_with_fewer("rust/barrier.rs");
}

/// The failure takes a switch between plain accesses: it is not found, and the report says why it may be there.
fn is_not_enough(source: &str, variable: &str, lines: [u64; 2]) {
    for level in levels(source) {
        let outcome = explore(&build(source, level), &["--scope", "sync"]);
        let at = format!("{source} {}: {}", level.name(), outcome.transcript());
        assert_eq!((outcome.code, &outcome.report["verdict"]), (2, &json!("inconclusive")), "{at}");
        assert_eq!(
            (&outcome.report["findings"], &outcome.report["covered"]),
            (&json!([]), &json!({})),
            "{at}"
        );
        let scope = &outcome.report["at_synchronisation"];
        assert_eq!(scope["suffices"], json!(false), "{at}");
        assert_eq!(scope["covered"]["preemptions"], json!(2), "{at}");
        let message = scope["message"].as_str().unwrap();
        let race = &outcome.report["races"][0];
        assert!(race["variable"].as_str().unwrap().contains(variable), "{at}");
        let file = Path::new(source).file_name().unwrap().to_string_lossy();
        let [a, b] = lines.map(|line| format!("{file}:{line})"));
        assert!(message.contains("not enough: data race: ") && message.contains(variable), "{at}");
        assert!(message.contains(&a) && message.contains(&b), "{at}");
    }
}

#[test]
fn a_race_says_that_switching_at_synchronisation_is_not_enough() {
    is_not_enough("c/lost_update.c", "page_views", [19, 19]);
    is_not_enough("c/order_violation.c", "settings", [22, 31]);
    is_not_enough("cpp/double_checked.cpp", "level", [28, 35]);
    is_not_enough("rust/snapshot.rs", "SCREEN", [24, 32]);
}

#[test]
fn a_failure_is_reported_with_a_race_beside_it() {
    for level in levels("barrier") {
        let outcome = explore(&build("c/barrier.c", level), &["--keep-going", "--scope", "sync"]);
        assert_eq!((outcome.code, outcome.finding()["kind"].as_str()), (1, Some("crash")));
        assert_eq!(
            outcome.report["at_synchronisation"]["suffices"],
            json!(false),
            "{}",
            outcome.transcript()
        );
    }
}

#[test]
fn where_no_bound_was_covered_nothing_is_said_to_suffice() {
    let program = build("c/late_sharing_ok.c", Optimisation::O2);
    let few = |strategy, schedules| ["--strategy", strategy, "--max-schedules", schedules];
    for options in [few("random", "20"), few("pct", "20"), few("icb", "1")] {
        let outcome = explore(&program, &[&["--scope", "sync"][..], &options].concat());
        assert_eq!(outcome.code, 2, "{}", outcome.transcript());
        let scope = &outcome.report["at_synchronisation"];
        assert_eq!((&scope["suffices"], &scope["covered"]), (&Value::Null, &json!({})), "{scope}");
    }
}

#[test]
fn what_cannot_be_narrowed_is_refused_in_a_sentence() {
    let program = build("c/lost_update_ok.c", Optimisation::O0);
    for strategy in [
        "dpor",
        "bounded-dpor",
        "pos",
        "basic-pos",
        "rapos",
        "surw",
        "vtb",
        "pctvb",
        "period",
        "guided",
        "auto",
    ] {
        let outcome = explore(&program, &["--scope", "sync", "--strategy", strategy]);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (3, ""), "{}", outcome.transcript());
        let sentence = format!(
            "--scope sync does not go with --strategy {strategy}: it is for icb, idb, dfs, random, pct"
        );
        assert!(outcome.says(&sentence), "{}", outcome.transcript());
    }
    let outcome = explore(&program, &["--scope", "sync", "--no-races"]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (3, ""), "{}", outcome.transcript());
    let sentence = "--scope sync does not go with --no-races: data races say whether switching at \
                    synchronisation was enough";
    assert!(outcome.says(sentence), "{}", outcome.transcript());
}

#[test]
fn where_a_thread_gives_way_threads_are_switched_everywhere() {
    for level in sample(Optimisation::ALL, 2) {
        let program = build("rust/order_violation.rs", level);
        let wide = explore(&program, &["--keep-going", "--strategy", "icb"]);
        let asked = explore(&program, &["--keep-going", "--scope", "sync"]);
        let at = format!("{}{}", wide.transcript(), asked.transcript());
        assert_eq!(asked.report["schedules"], wide.report["schedules"], "{at}");
        assert_eq!((failures(&asked), &asked.report["covered"]), (failures(&wide), &wide.report["covered"]));
        assert_eq!(asked.report["at_synchronisation"], Value::Null, "{at}");
        assert!(asked.says("a thread gives way (it yields or sleeps)"), "{at}");
    }
}
