//! Data races of real programs: what is racy is reported with both lines, what is correct is not, whatever the optimisation
//! level; and a race alone changes nothing but the report.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use tests::{Build, Manifest, Optimisation, Outcome, Tool, levels, sample};

fn explore(program: &Path, options: &[&str]) -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let place = ["--output".as_ref(), folder.path().as_os_str()];
    let options = place.into_iter().chain(options.iter().map(AsRef::as_ref));
    Tool::explore(options, program).run().unwrap()
}

fn build(source: &str, level: Optimisation) -> std::path::PathBuf {
    Build::new(source, level).program().unwrap()
}

/// The lines of the two accesses of every race, the smaller one first, with the variable.
fn races(outcome: &Outcome) -> BTreeSet<(u64, u64, String)> {
    let line = |access: &Value| access["line"].as_u64().unwrap_or_else(|| panic!("{}", outcome.transcript()));
    let races = outcome.report["races"].as_array().unwrap_or_else(|| panic!("{}", outcome.transcript()));
    races
        .iter()
        .map(|race| {
            let [a, b] = [0, 1].map(|nth| line(&race["accesses"][nth]));
            (a.min(b), a.max(b), race["variable"].as_str().unwrap().to_owned())
        })
        .collect()
}

fn expect(source: &str, expected: &[(u64, u64, &str)], is_harmful: bool) {
    for level in levels(source) {
        let folder = tempfile::tempdir().unwrap();
        let place = ["--output".as_ref(), folder.path().as_os_str()];
        // Executions that fail and pass with a race in either order come of the explanation.
        let outcome = Tool::explain(place, &build(source, level)).run().unwrap();
        let expected = expected.iter().map(|(a, b, variable)| (*a, *b, (*variable).to_owned())).collect();
        assert_eq!(races(&outcome), expected, "{source} {}: {}", level.name(), outcome.transcript());
        for race in outcome.report["races"].as_array().unwrap() {
            assert_eq!((&race["kind"], &race["certain"]), (&json!("race"), &json!(true)), "{race}");
            assert_eq!(race["harmful"], json!(is_harmful), "{race}");
            assert!(race["accesses"][1]["stack"][0]["function"].is_string(), "{race}");
        }
    }
}

#[test]
fn racy_programs_in_c_report_the_pair_that_races() {
    // Each thread's read with the other's write, and the writes, are all on one line.
    expect("c/lost_update.c", &[(19, 19, "page_views")], true);
    expect("c/order_violation.c", &[(22, 31, "settings")], true);
    expect("c/reader_writer.c", &[(21, 31, "lowest"), (22, 32, "highest")], false);
    // The pointer that publishes it is atomic, what it points to is not.
    expect("c/double_checked.c", &[(28, 40, "the_codec.block_size")], true);
}

#[test]
fn racy_programs_in_cpp_report_the_pair_that_races() {
    expect("cpp/double_checked.cpp", &[(28, 35, "level")], true);
    expect("cpp/reader_writer.cpp", &[(24, 30, "checksum"), (23, 31, "entries")], false);
}

#[test]
fn a_racy_program_in_rust_reports_the_pair_that_races() {
    for level in levels("snapshot") {
        let found = races(&explore(&build("rust/snapshot.rs", level), &["--keep-going"]));
        assert!(found.iter().all(|(a, b, variable)| (*a, *b) == (24, 32) && variable.starts_with("SCREEN")));
        assert!(!found.is_empty(), "{}", level.name());
    }
}

/// The access that its copy races with is the one that makes a seqlock try again; but by the rules of C++ it is a race.
const SEQLOCK: &str = "cpp/snapshot_ok.cpp";

fn correct_programs_do_not_race(folder: &str) {
    let targets = Manifest::read().unwrap().targets;
    let correct = targets.iter().filter(|target| !target.is_bug() && target.language.folder() == folder);
    let sources: Vec<String> = correct.map(|target| target.source().to_string_lossy().into_owned()).collect();
    assert!(sources.len() > 8, "{sources:?}");
    let sources = sources.iter().filter(|source| *source != SEQLOCK);
    let builds = sources.flat_map(|source| Optimisation::ALL.map(|level| (source, level)));
    for (source, level) in sample(builds, 3) {
        let outcome = explore(&build(source, level), &["--max-schedules", "60"]);
        assert_eq!(outcome.report["races"], json!([]), "{source} {}", level.name());
    }
}

#[test]
fn correct_programs_in_c_do_not_race() {
    correct_programs_do_not_race("c");
}

#[test]
fn correct_programs_in_cpp_do_not_race() {
    correct_programs_do_not_race("cpp");
}

#[test]
fn correct_programs_in_rust_do_not_race() {
    correct_programs_do_not_race("rust");
}

#[test]
fn a_race_is_a_failure_only_where_that_is_asked_for() {
    let program = build(SEQLOCK, Optimisation::O2);
    // Half of a copy may be older than the other; it is thrown away then.
    const ASSUMED: [&str; 2] = ["--assume", "torn-access"];
    let outcome = explore(&program, &[]);
    assert_eq!((outcome.code, &outcome.report["not_covered"][0]["kind"]), (2, &json!("torn-access")));
    let outcome = explore(&program, &ASSUMED);
    let copied = |line, member: &str| (line, 35, format!("settings.{member}"));
    assert_eq!(races(&outcome), [copied(25, "revision"), copied(26, "last_revision")].into());
    assert_eq!((outcome.code, &outcome.report["verdict"]), (0, &json!("clean")));
    let outcome = explore(&program, &["--fail-on-races"]);
    assert_eq!((outcome.code, &outcome.report["verdict"]), (1, &json!("found")));
    assert_eq!(outcome.report["findings"], json!([]));
    let outcome = explore(&program, &[&["--no-races"], &ASSUMED[..]].concat());
    assert_eq!((outcome.code, &outcome.report["races"]), (0, &json!([])));
}

#[test]
fn without_debug_information_accesses_may_be_atomic() {
    let program = build("c/lost_update.c", Optimisation::O2);
    let folder = tempfile::tempdir().unwrap();
    let stripped = folder.path().join("stripped");
    let status = Command::new("strip").arg("-g").arg("-o").arg(&stripped).arg(&program).status().unwrap();
    assert!(status.success());
    let outcome = explore(&stripped, &[]);
    let race = &outcome.report["races"][0];
    assert_eq!(race["certain"], json!(false), "{}", outcome.transcript());
    let message = race["message"].as_str().unwrap();
    assert!(message.starts_with("unordered accesses (may be atomic): "), "{message}");
}

#[test]
fn a_race_that_may_stay_is_counted_and_what_suppresses_nothing_is_noted() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("server");
    std::fs::copy(build(SEQLOCK, Optimisation::O2), &program).unwrap();
    let config = r#"
        [[suppress]]
        reason = "the version is looked at behind the copy"
        variable = "settings"
        functions = ["change", "reload"]
        [[suppress]]
        reason = "gone long ago"
        variable = "old_settings"
        [[suppress]]
        variable = "settings"
    "#;
    std::fs::write(folder.path().join("interleaver.toml"), config).unwrap();
    let outcome = explore(&program, &["--fail-on-races", "--assume", "torn-access"]);
    let report = &outcome.report;
    assert_eq!((outcome.code, &report["races"], &report["suppressed_races"]), (0, &json!([]), &json!(2)));
    let notes = report["notes"].to_string();
    assert!(notes.contains("the [[suppress]] at line 6 of interleaver.toml matches no data race"), "{notes}");
    assert!(
        notes.contains("interleaver.toml, line 9, column 9: this [[suppress]] gives no `reason`"),
        "{notes}"
    );
}

/// The guard of a static variable is read by compiled code, and written by the C++ library.
#[test]
fn what_the_first_call_of_a_function_initialises_does_not_race() {
    for strategy in ["random", "pct", "icb"] {
        for level in Optimisation::ALL {
            let options = ["--strategy", strategy, "--max-schedules", "60"];
            let outcome = explore(&build("correct/synchronisation/static_in_function.cpp", level), &options);
            let found = outcome.report["races"].as_array().map(Vec::len);
            assert_eq!(found, Some(0), "{strategy} {level:?}: {}", outcome.transcript());
            assert_ne!(outcome.code, 1, "{strategy} {level:?}: {}", outcome.transcript());
        }
    }
}
