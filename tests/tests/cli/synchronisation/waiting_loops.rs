//! Loops that wait for another thread and are never twice the same: they count, back off, or try. A schedule in which such a
//! loop runs alone is no failure of the program; what really goes wrong because of one still is.

use tests::{Build, Optimisation, Outcome, Tool, levels, sample};

fn explore(name: &str, level: Optimisation, options: &[&str]) -> Outcome {
    let program = Build::new(format!("waiting/{name}.c"), level).program().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let folder_option = ["--output".as_ref(), folder.path().as_os_str()];
    let options = folder_option.into_iter().chain(options.iter().map(AsRef::as_ref));
    Tool::explore(options, &program).run().unwrap()
}

/// None of these searches calls a correct program a failure within so many schedules. Of the searches of each build, one in
/// six is in the sample.
fn is_correct(name: &str, strategies: &[&str], schedules: &str) {
    let runs = strategies.iter().flat_map(|strategy| Optimisation::ALL.map(|level| (strategy, level)));
    for (strategy, level) in sample(runs, 6) {
        let options = ["--strategy", strategy, "--run-timeout", "1s", "--max-schedules", schedules];
        let outcome = explore(name, level, &options);
        assert_eq!(outcome.code, 2, "{strategy}: {}", outcome.transcript());
        assert_eq!(outcome.report["findings"], serde_json::json!([]), "{}", outcome.transcript());
    }
}

/// The value that the loop reads has not been written when the thread comes to it.
#[test]
fn it_counts_its_rounds() {
    is_correct("counts_rounds", &["auto", "icb", "surw", "vtb", "pctvb", "dpor"], "12");
}

#[test]
fn it_counts_its_rounds_in_memory() {
    is_correct("counts_in_memory", &["auto", "icb"], "25");
}

#[test]
fn it_counts_its_tries_to_take_a_mutex() {
    is_correct("tries_and_counts", &["auto", "icb"], "25");
}

/// Its attempts change nothing as long as they fail.
#[test]
fn it_tries_to_take_a_lock_of_its_own() {
    is_correct("spins_by_exchange", &["auto", "icb"], "25");
}

/// Two threads wait, and a third one could go.
#[test]
fn it_waits_longer_from_look_to_look() {
    is_correct("backs_off", &["auto", "icb"], "8");
}

#[test]
fn what_a_loop_that_gives_up_leads_to_is_found() {
    for level in levels("gives_up_polling") {
        for strategy in ["auto", "icb"] {
            let outcome = explore("gives_up_polling", level, &["--strategy", strategy]);
            assert_eq!(outcome.code, 1, "{}", outcome.transcript());
            assert_eq!(outcome.finding()["kind"], "assertion", "{}", outcome.transcript());
        }
    }
}

/// Another thread could go at each of the sleeps, and need not.
#[test]
fn what_a_few_sleeps_in_a_row_lead_to_is_found() {
    for level in levels("sleeps_first") {
        for strategy in ["dfs", "icb", "idb", "auto", "dpor"] {
            let outcome = explore("sleeps_first", level, &["--strategy", strategy, "--max-stall", "5ms"]);
            assert_eq!(outcome.code, 1, "{strategy}: {}", outcome.transcript());
            assert_eq!(outcome.finding()["kind"], "assertion", "{}", outcome.transcript());
        }
    }
}

/// Searches that let threads take turns do not find it, and say that this is not among what they have run.
#[test]
fn what_many_yields_in_a_row_lead_to_is_not_called_run() {
    for level in levels("yields_often") {
        for strategy in ["dfs", "icb"] {
            let outcome = explore("yields_often", level, &["--strategy", strategy]);
            assert_eq!(outcome.report["findings"], serde_json::json!([]), "{}", outcome.transcript());
            let covered = &outcome.report["covered"];
            assert_ne!(covered["everything"], true, "{}", outcome.transcript());
            assert_eq!(covered["in_turns_of"], 8, "{}", outcome.transcript());
        }
        let outcome = explore("yields_often", level, &["--strategy", "dpor"]);
        assert_eq!(outcome.finding()["kind"], "assertion", "{}", outcome.transcript());
    }
}

#[test]
fn a_loop_that_may_go_on_for_ever_is_no_finding_and_covers_nothing() {
    for level in levels("searches_for_ever") {
        let outcome = explore("searches_for_ever", level, &["--strategy", "icb", "--run-timeout", "500ms"]);
        assert_eq!(outcome.code, 2, "{}", outcome.transcript());
        assert_eq!(
            outcome.report["covered"],
            serde_json::json!({"preemptions": 0}),
            "{}",
            outcome.transcript()
        );
        assert!(outcome.says("--run-timeout"), "{}", outcome.transcript());
    }
}

/// Its being let go on for long is left out of every schedule, and it is then that the program passes.
#[test]
fn what_passes_where_a_loop_goes_on_for_long_is_not_said_to_fail_always() {
    for level in levels("gives_up_first") {
        for strategy in ["auto", "icb"] {
            let outcome = explore("gives_up_first", level, &["--strategy", strategy]);
            assert_eq!(outcome.code, 1, "{}", outcome.transcript());
            assert_eq!(outcome.finding()["kind"], "assertion", "{}", outcome.transcript());
        }
    }
}

/// The token of a thread that parks is taken in the library's own code. Orders of events that follow from others come out only where
/// that is an event.
#[test]
fn the_token_of_a_parked_thread_is_an_event() {
    for level in Optimisation::ALL {
        let program = Build::new("correct/synchronisation/parked.rs", level).program().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let options =
            ["--output".as_ref(), folder.path().as_os_str(), "--strategy".as_ref(), "dpor".as_ref()];
        let outcome = Tool::explore(options, &program).run().unwrap();
        let covered = &outcome.report["covered"]["everything"];
        assert_eq!(
            (outcome.code, covered),
            (0, &serde_json::json!(true)),
            "{level:?}: {}",
            outcome.transcript()
        );
    }
}
