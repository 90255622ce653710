//! Sleeps and timed waits: time passes where no thread can run, and a failure that takes a stall of a thread that can
//! run is a warning.

use serde_json::{Value, json};
use tests::{Build, Optimisation, Outcome, Tool, levels};

fn explore(source: &str, level: Optimisation, options: &[&str]) -> Outcome {
    let program = Build::new(format!("timing/{source}"), level).program().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().to_string_lossy();
    let options = ["--output", &folder].into_iter().chain(options.iter().copied());
    Tool::explore(options, &program).run().unwrap()
}

fn warnings(outcome: &Outcome) -> &[Value] {
    outcome.report["stalled"]["findings"].as_array().map_or(&[], Vec::as_slice)
}

#[test]
fn deadlines_keep_their_order() {
    for source in ["answers_late.c", "sleeps_in_order.cpp"] {
        for level in levels(source) {
            let outcome = explore(source, level, &[]);
            let told = (outcome.code, &outcome.report["covered"]["max_stall_ns"], warnings(&outcome));
            assert_eq!(told, (0, &json!(0), &[][..]), "{source} {level:?}: {}", outcome.transcript());
        }
    }
}

#[test]
fn what_needs_a_stall_is_a_warning() {
    for (source, least, kind) in
        [("sleeps_for_the_others.c", 80, "assertion"), ("waits_for_a_reply.rs", 50, "panic")]
    {
        for level in levels(source) {
            let outcome = explore(source, level, &["--max-preemptions", "0"]);
            assert_eq!(
                (outcome.code, &outcome.report["findings"]),
                (0, &json!([])),
                "{}",
                outcome.transcript()
            );
            let [warning] = warnings(&outcome) else { panic!("{}", outcome.transcript()) };
            assert_eq!(warning["kind"], kind, "{}", outcome.transcript());
            let stall = warning["stall"]["nanoseconds"].as_u64().unwrap();
            // Events take microseconds of the virtual clock.
            assert_eq!((stall + 500_000) / 1_000_000, least, "{}", outcome.transcript());
            assert_eq!(warning["stall"]["other"], "T1", "{}", outcome.transcript());
        }
    }
}

#[test]
fn a_stall_that_is_allowed_leads_to_a_failure() {
    for strategy in ["auto", "icb", "idb", "dfs", "dpor", "bounded-dpor"] {
        let explore = |stall| {
            let options = ["--strategy", strategy, "--max-stall", stall];
            explore("sleeps_for_the_others.c", Optimisation::O0, &options)
        };
        let below = explore("79ms");
        assert_eq!(
            (below.code, &below.report["findings"]),
            (0, &json!([])),
            "{strategy}: {}",
            below.transcript()
        );
        let above = explore("81ms");
        assert_eq!(above.code, 1, "{strategy}: {}", above.transcript());
        assert_eq!(above.finding()["stall"]["other"], "T1", "{strategy}: {}", above.transcript());
    }
}

#[test]
fn a_warning_is_replayed_and_explained() {
    let program = Build::new("timing/sleeps_for_the_others.c", Optimisation::O0).program().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let outcome = Tool::explain(["--output", &folder.path().to_string_lossy()], &program).run().unwrap();
    let [warning] = warnings(&outcome) else { panic!("{}", outcome.transcript()) };
    let sentence = warning["explanation"]["sentence"].as_str().unwrap();
    assert!(sentence.contains("`done`"), "{}", outcome.transcript());
    let schedule = warning["schedule_file"].as_str().unwrap();
    let replay = Tool::new(["replay", "--format", "json", schedule]).run().unwrap();
    assert_eq!(replay.code, 1, "{}", replay.transcript());
    assert_eq!(replay.finding()["stall"], warning["stall"], "{}", replay.transcript());
    let minimised = Tool::new(["minimise", "--format", "json", schedule]).run().unwrap();
    assert_eq!(minimised.finding()["stall"]["other"], "T1", "{}", minimised.transcript());
}

#[test]
fn what_times_decide_always_fails_unless_a_thread_is_stalled() {
    for level in levels("always_late") {
        let outcome = explore("always_late.c", level, &[]);
        let told = [&outcome.finding()["kind"], &outcome.finding()["unless_stalled"]];
        assert_eq!(told, [&json!("always-fails"), &json!(true)], "{}", outcome.transcript());
        let stalled = explore("always_late.c", level, &["--max-stall", "20ms"]);
        assert_eq!(stalled.finding()["kind"], "assertion", "{}", stalled.transcript());
    }
}

#[test]
fn a_signal_ends_a_sleep() {
    for level in levels("interrupted_sleep") {
        let outcome = explore("interrupted_sleep.c", level, &[]);
        assert_eq!((outcome.code, &outcome.report["findings"]), (2, &json!([])), "{}", outcome.transcript());
    }
}
