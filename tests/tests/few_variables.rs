//! `--strategy pctvb` on real programs: most executions have the accesses of few variables as key points, which takes fewer
//! of these, and what is found is reported and replayed as always.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tests::{Build, Optimisation, Outcome, Tool};

fn build(source: &str, level: Optimisation) -> PathBuf {
    Build::new(source, level).program().unwrap()
}

fn explore(program: &Path, output: &Path, options: &[&str]) -> Outcome {
    let place = ["--strategy".as_ref(), "pctvb".as_ref(), "--output".as_ref(), output.as_os_str()];
    Tool::explore(place.into_iter().chain(options.iter().map(AsRef::as_ref)), program).run().unwrap()
}

fn count(report: &Value, member: &str) -> u64 {
    report[member].as_u64().unwrap_or_else(|| panic!("no {member}: {report:#}"))
}

/// What the search ran, with the time that it took left out.
fn ran(outcome: &Outcome) -> Vec<Value> {
    let members = ["schedules", "deadlocked", "redundant", "pruned", "narrow", "key_points_per_schedule"];
    members.map(|member| outcome.report[member].clone()).into()
}

/// All key points are one execution in ten, and those that fail.
fn takes_fewer_key_points(source: &str) {
    for level in Optimisation::ALL {
        let program = build(source, level);
        let folder = tempfile::tempdir().unwrap();
        let options = ["--keep-going", "--no-explain", "--max-schedules", "300"];
        let outcome = explore(&program, folder.path(), &options);
        let at = format!("{source} {}: {}", level.name(), outcome.transcript());
        let report = &outcome.report;
        let few = count(&report["narrow"], "schedules");
        let all =
            ["schedules", "redundant", "pruned"].map(|member| count(report, member)).iter().sum::<u64>();
        assert_eq!(few + all, 300, "{at}");
        assert!(few > 150 && all >= 30, "{at}");
        let key_points = |report: &Value| report["key_points_per_schedule"].as_f64().unwrap();
        assert!(key_points(&report["narrow"]) * 1.1 < key_points(report), "{at}");
        let again = explore(&program, folder.path(), &options);
        assert_eq!(ran(&again), ran(&outcome), "{at}");
    }
}

#[test]
fn executions_with_few_variables_take_fewer_key_points() {
    takes_fewer_key_points("c/bounded_queue.c");
    takes_fewer_key_points("c/work_stealing.c");
    takes_fewer_key_points("cpp/bounded_queue.cpp");
}

fn finds(source: &str, kind: &str) {
    for level in Optimisation::ALL {
        let program = build(source, level);
        let folder = tempfile::tempdir().unwrap();
        let outcome = explore(&program, folder.path(), &["--max-schedules", "2000"]);
        let at = format!("{source} {}: {}", level.name(), outcome.transcript());
        let finding = outcome.finding();
        assert_eq!((outcome.code, &finding["kind"]), (1, &json!(kind)), "{at}");
        assert_eq!(finding["reproduced"], json!("2/2"), "{at}");
        assert!(finding["explanation"]["depth"]["value"].as_u64() >= Some(1), "{at}");
        assert!(count(&outcome.report["narrow"], "schedules") > 0, "{at}");
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
    finds("c/bounded_queue.c", "assertion");
    finds("cpp/bounded_queue.cpp", "assertion");
    finds("rust/bounded_queue.rs", "panic");
}
