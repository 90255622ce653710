//! `--strategy bounded-dpor` on real programs: within a bound it runs each class once, and those are the ones of `icb`.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use tests::{Build, Optimisation, Outcome, Tool, sample};

/// Hundreds of executions, on a machine that perhaps does something else.
const LIMIT: Duration = Duration::from_secs(600);

fn explore(program: &Path, strategy: &str, bound: u64) -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let (folder, bound) = (folder.path().to_string_lossy(), bound.to_string());
    let options = ["--strategy", strategy, "--max-preemptions", &bound, "--keep-going", "--no-races"];
    let rest = ["--time-limit", "600s", "--output", &folder];
    Tool::explore(options.into_iter().chain(rest), program).within(LIMIT).run().unwrap()
}

/// The failures that were found, by name.
fn failures(outcome: &Outcome) -> BTreeSet<&str> {
    outcome.report["findings"].as_array().unwrap().iter().map(|found| found["id"].as_str().unwrap()).collect()
}

/// Each with its definitions. One reads a lock: nothing is left out of it.
const PROGRAMS: [(&str, &[&str]); 8] = [
    ("counter_mutex", &["-DT=2", "-DK=2"]),
    ("counter_racy", &["-DT=3", "-DK=1"]),
    ("deadlock_abba", &[]),
    ("litmus_IRIW", &[]),
    ("philo", &["-DN=3", "-DR=1", "-DORDERED=0"]),
    ("condvar", &["-DN=2"]),
    ("casrot", &["-DN=3"]),
    ("rwlock", &["-DN=2"]),
];

fn check(source: &str, defines: &[&str], level: Optimisation) {
    let source = format!("../counts/{source}.c");
    let build = defines.iter().fold(Build::new(source, level), |build, flag| build.flag(flag));
    let program = build.program().unwrap();
    for bound in 0..=2 {
        let [bounded, icb] = ["bounded-dpor", "icb"].map(|name| explore(&program, name, bound));
        let at = format!("{}{}", bounded.transcript(), icb.transcript());
        for member in ["schedules", "deadlocked"] {
            assert_eq!(bounded.report[member], icb.report[member], "{member}: {at}");
        }
        // A failure that shows above the bound is a failure.
        assert!(failures(&bounded).is_superset(&failures(&icb)), "{at}");
        assert_eq!(bounded.report["covered"]["preemptions"], bound, "{at}");
        assert_eq!(bounded.report["redundant"], 0, "{at}");
    }
}

#[test]
fn each_class_within_the_bound_is_run_once() {
    let builds = PROGRAMS.iter().flat_map(|program| Optimisation::ALL.map(|level| (program, level)));
    for ((source, defines), level) in sample(builds, 3) {
        check(source, defines, level);
    }
}

#[test]
fn what_is_not_covered_for_want_of_a_cost_is_said() {
    // Of 13 threads there are too many linearisations to look at all of them.
    let program = Build::new("../counts/indexer.c", Optimisation::O0).flag("-DN=13").program().unwrap();
    let outcome = explore(&program, "bounded-dpor", 2);
    assert_eq!(outcome.report["covered"], serde_json::json!({}), "{}", outcome.transcript());
    let notes = outcome.report["notes"].as_array().unwrap();
    let says_why =
        |note: &serde_json::Value| note.as_str().unwrap().contains("how many preemptions it takes");
    assert!(notes.iter().any(says_why), "{}", outcome.transcript());
}
