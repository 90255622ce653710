//! `--strategy pctvb` and `vtb` on real programs: many executions have the accesses of few variables as key points, which takes
//! fewer of these, and what is found is reported and replayed as always.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tests::{Build, Optimisation, Outcome, Tool, sample};

fn build(source: &str, level: Optimisation) -> PathBuf {
    Build::new(source, level).program().unwrap()
}

fn explore(program: &Path, output: &Path, options: &[&str]) -> Outcome {
    let place = ["--output".as_ref(), output.as_os_str()];
    Tool::explore(place.into_iter().chain(options.iter().map(AsRef::as_ref)), program).run().unwrap()
}

fn count(report: &Value, member: &str) -> u64 {
    report[member].as_u64().unwrap_or_else(|| panic!("no {member}: {report:#}"))
}

/// The report's account of the search, with the time that it took left out.
fn ran(outcome: &Outcome) -> Vec<Value> {
    let members = ["schedules", "deadlocked", "redundant", "pruned", "narrow", "key_points_per_schedule"];
    members.map(|member| outcome.report[member].clone()).into()
}

fn takes_fewer_key_points(source: &str, options: &[&str], least: u64) {
    for level in sample(Optimisation::ALL, 2) {
        let program = build(source, level);
        let folder = tempfile::tempdir().unwrap();
        let options = [options, &["--keep-going"]].concat();
        let outcome = explore(&program, folder.path(), &options);
        let at = format!("{source} {}: {}", level.name(), outcome.transcript());
        let report = &outcome.report;
        let few = count(&report["narrow"], "schedules");
        assert!(few >= least, "{at}");
        assert_eq!(report["verdict"], "found", "{at}");
        let key_points = |report: &Value| report["key_points_per_schedule"].as_f64().unwrap();
        assert!(key_points(&report["narrow"]) * 1.1 < key_points(report), "{at}");
        let again = explore(&program, folder.path(), &options);
        assert_eq!(ran(&again), ran(&outcome), "{at}\nagain: {}", again.transcript());
    }
}

#[test]
fn executions_with_few_variables_take_fewer_key_points() {
    // All key points are in one of ten, and in those that fail.
    let options = ["--strategy", "pctvb", "--max-schedules", "300"];
    for source in sample(["c/bounded_queue.c", "c/work_stealing.c"], 2) {
        takes_fewer_key_points(source, &options, 220);
    }
    // In those with fewer preemptions than are allowed as well.
    let options = ["--strategy", "vtb", "--max-preemptions", "2", "--max-schedules", "1000"];
    for source in sample(["c/bounded_queue.c", "cpp/bounded_queue.cpp"], 2) {
        takes_fewer_key_points(source, &options, 60);
    }
}

fn finds(source: &str, kind: &str) {
    for level in sample(Optimisation::ALL, 2) {
        let program = build(source, level);
        let folder = tempfile::tempdir().unwrap();
        let options = ["--strategy", "pctvb", "--max-schedules", "2000", "--output"].map(OsStr::new);
        let options = options.into_iter().chain([folder.path().as_os_str()]);
        let outcome = Tool::explain(options, &program).run().unwrap();
        let at = format!("{source} {}: {}", level.name(), outcome.transcript());
        let finding = outcome.finding();
        assert_eq!((outcome.code, &finding["kind"]), (1, &json!(kind)), "{at}");
        assert_eq!(finding["reproduced"], json!("2/2"), "{at}");
        assert!(finding["explanation"]["depth"]["value"].as_u64() >= Some(1), "{at}");
        // Knowledge gained in reproducing the failure began the count anew.
        let is_new = count(&outcome.report, "schedules") == 0;
        assert!(is_new || count(&outcome.report["narrow"], "schedules") > 0, "{at}");
        let file = folder.path().join(finding["schedule_file"].as_str().unwrap());
        let replay = ["replay".as_ref(), "--format".as_ref(), "json".as_ref(), file.as_os_str()];
        let replayed = Tool::new(replay).run().unwrap();
        assert_eq!(replayed.code, 1, "{}", replayed.transcript());
        for member in ["kind", "line", "events"] {
            assert_eq!(
                replayed.finding()[member],
                finding[member],
                "{member}: {at}{}",
                replayed.transcript()
            );
        }
    }
}

#[test]
fn what_fails_with_few_key_points_is_reported_and_replayed_with_all() {
    let programs = [
        ("c/bounded_queue.c", "assertion"),
        ("cpp/bounded_queue.cpp", "assertion"),
        ("rust/bounded_queue.rs", "panic"),
    ];
    for (source, kind) in sample(programs, 3) {
        finds(source, kind);
    }
}
