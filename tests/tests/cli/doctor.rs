//! The prerequisites of exploring are tried, with a fix told for each that is refused; a dispensable one is done
//! without.

use serde_json::Value;
use tests::{Build, Optimisation, Outcome, Tool, running};

const THINGS: [(&str, bool); 4] =
    [("trace", true), ("filter", true), ("personality", false), ("affinity", false)];

/// Runs the tool where one thing is refused.
fn without(thing: &str, tool: Tool) -> Outcome {
    let wrapper = Build::new("processes/without.c", Optimisation::O0).program().unwrap();
    tool.under(wrapper, [thing]).run().unwrap()
}

fn checks(outcome: &Outcome) -> Vec<Value> {
    outcome.report.as_array().unwrap_or_else(|| panic!("JSON is expected: {}", outcome.transcript())).clone()
}

fn doctor() -> Tool {
    Tool::new(["doctor", "--format", "json"])
}

#[test]
fn here_everything_works() {
    let outcome = doctor().run().unwrap();
    assert_eq!(outcome.code, 0, "{}", outcome.transcript());
    let checks = checks(&outcome);
    let names: Vec<_> = checks.iter().filter_map(|check| check["name"].as_str()).collect();
    assert_eq!(names, THINGS.map(|(name, _)| name));
    for check in &checks {
        assert_eq!((&check["works"], &check["fix"]), (&Value::Bool(true), &Value::Null), "{check}");
    }
}

#[test]
fn what_is_refused_is_named_with_a_fix() {
    for (thing, is_needed) in THINGS {
        let outcome = without(thing, doctor());
        assert_eq!(outcome.code, if is_needed { 3 } else { 0 }, "{thing}: {}", outcome.transcript());
        for check in checks(&outcome) {
            let is_refused = check["name"] == thing;
            assert_eq!(check["works"], !is_refused, "{thing}: {check}");
            assert_eq!(check["fix"].is_string(), is_refused, "{thing}: {check}");
            assert_eq!(
                check["sentence"].as_str().unwrap().contains("refused"),
                is_refused,
                "{thing}: {check}"
            );
        }
    }
}

#[test]
fn people_read_a_line_for_each_thing_and_one_for_each_fix() {
    let outcome = without("trace", Tool::new(["doctor"]));
    assert_eq!(outcome.code, 3, "{}", outcome.transcript());
    let marks: Vec<&str> =
        outcome.stdout.lines().map(|line| line.split_whitespace().next().unwrap()).collect();
    assert_eq!(marks, ["missing", "to", "ok", "ok", "ok"], "{}", outcome.transcript());
}

/// Default profiles of containers refuse both.
#[test]
fn without_what_is_not_needed_the_same_is_found_and_said_once() {
    for level in Optimisation::ALL {
        let program = Build::new("c/lost_update.c", level).program_for("doctor").unwrap();
        let usual = Tool::explore([] as [&str; 0], &program).run().unwrap();
        assert_eq!(usual.code, 1, "{}", usual.transcript());
        for (thing, phrase) in [("personality", "address randomisation"), ("affinity", "one CPU")] {
            let outcome = without(thing, Tool::explore([] as [&str; 0], &program));
            assert_eq!(outcome.code, 1, "{thing}: {}", outcome.transcript());
            assert_eq!(outcome.finding()["preemptions"], usual.finding()["preemptions"], "{thing}");
            assert_eq!(outcome.report["schedules"], usual.report["schedules"], "{thing}");
            let notes = outcome.report["notes"].as_array().unwrap();
            let said = notes.iter().filter(|note| note.as_str().unwrap().contains(phrase)).count();
            assert_eq!(said, 1, "{thing}: {notes:?}");
            assert!(!usual.says(phrase), "{}", usual.transcript());
        }
        assert_eq!(running(&program), [] as [i32; 0]);
    }
}

/// A replay is another process, with other addresses.
#[test]
fn a_schedule_is_replayed_at_other_addresses() {
    let program = Build::new("c/check_then_act.c", Optimisation::O0).program().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let explored = Tool::explore(["--output".as_ref(), folder.path().as_os_str()], &program);
    let outcome = without("personality", explored);
    assert_eq!(outcome.code, 1, "{}", outcome.transcript());
    let schedule = folder.path().join(outcome.finding()["schedule_file"].as_str().unwrap());
    for _ in 0..2 {
        let replayed = without("personality", Tool::new(["replay".as_ref(), schedule.as_os_str()]));
        assert_eq!(replayed.code, 1, "{}", replayed.transcript());
        assert!(replayed.says("address randomisation"), "{}", replayed.transcript());
    }
}

/// Each execution of such a program is a start of its own, with addresses of its own.
#[test]
fn threads_before_main_need_fixed_addresses() {
    let program =
        Build::new("startup/constructor_threads.c", Optimisation::O0).program_for("doctor").unwrap();
    let outcome = without("personality", Tool::explore([] as [&str; 0], &program));
    assert_eq!(outcome.code, 3, "{}", outcome.transcript());
    assert!(outcome.says("before main") && outcome.says("interleaver doctor"), "{}", outcome.transcript());
    assert_eq!(running(&program), [] as [i32; 0]);
}
