//! `interleaver minimise`: a schedule that an explanation had no time for is brought to its end, and the original is kept.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::{TempDir, tempdir};
use tests::{Build, Optimisation, Outcome, Tool};

/// The finding of a random search whose explanation had no time, and the store that keeps it.
fn cut_short(source: &str, level: Optimisation) -> (TempDir, Value) {
    let program = Build::new(source, level).program().unwrap();
    let folder = tempdir().unwrap();
    let options = ["--strategy", "random", "--seed", "1", "--explain-time", "1us", "--output"];
    let tool = Tool::new(["explore", "--format", "json"]).and(options);
    let outcome = tool.and([folder.path(), &program]).run().unwrap();
    assert_eq!(outcome.finding()["explanation"]["minimised"], false, "{}", outcome.transcript());
    (folder, outcome.finding().clone())
}

fn minimise(schedule: &str) -> Outcome {
    Tool::new(["minimise", "--format", "json", schedule]).run().unwrap()
}

fn read(file: &Path) -> Value {
    serde_json::from_slice(&fs::read(file).unwrap()).unwrap()
}

fn replay(schedule: &str) -> Outcome {
    Tool::new(["replay", "--format", "json", schedule]).run().unwrap()
}

/// If executions are long, accesses that events order are no key points: here neither.
#[test]
fn it_takes_the_key_points_by_the_rule_by_which_the_schedule_was_found() {
    let program = Build::new("unseen/sharing/handed_over.c", Optimisation::O0).program().unwrap();
    let folder = tempdir().unwrap();
    let tool = Tool::explore(["--output".as_ref(), folder.path().as_os_str()], &program);
    let outcome = tool.and(["late"]).run().unwrap();
    let schedule = outcome.finding()["schedule_file"].as_str().unwrap().to_owned();
    assert_eq!(read(schedule.as_ref())["found_by"]["key_points"]["unordered_only"], true);
    let minimised = minimise(&schedule);
    assert_eq!(
        minimised.report["ended"],
        "the schedule is minimised to the end",
        "{}",
        minimised.transcript()
    );
    assert_eq!(minimised.finding()["preemptions"], 1);
    assert_eq!(replay(&schedule).code, 1);
}

#[test]
fn it_reaches_the_simplest_schedule_and_keeps_the_original() {
    for (source, level, fewest) in [
        ("c/spin_flag.c", Optimisation::O0, 2),
        ("cpp/semaphore.cpp", Optimisation::O2, 1),
        ("rust/lost_update.rs", Optimisation::O0, 1),
    ] {
        let (folder, found) = cut_short(source, level);
        let schedule = found["schedule_file"].as_str().unwrap();
        let before = fs::read(schedule).unwrap();
        let outcome = minimise(schedule);
        assert_eq!((outcome.code, outcome.report["verdict"].as_str()), (1, Some("found")), "{source}");
        assert_eq!(outcome.report["ended"], "the schedule is minimised to the end");
        let finding = outcome.finding();
        let reached = (&finding["preemptions"], &finding["fewest"], &finding["explanation"]["minimised"]);
        assert_eq!(
            reached,
            (&json!(fewest), &json!(true), &json!(true)),
            "{source}\n{}",
            outcome.transcript()
        );
        for member in ["id", "kind", "schedule_file", "file", "line"] {
            assert_eq!(finding[member], found[member], "{source}: {member}");
        }
        // The file says so as well, and fails as before; so does the original, which is what was found.
        assert_eq!(read(schedule.as_ref())["failure"]["minimised"], true, "{source}");
        let original = finding["explanation"]["original"]["schedule_file"].as_str().unwrap();
        assert_eq!(fs::read(original).unwrap(), before, "{source}");
        for (file, preemptions) in [(schedule, &finding["preemptions"]), (original, &found["preemptions"])] {
            let replayed = replay(file);
            let shown = (&replayed.finding()["kind"], &replayed.finding()["preemptions"]);
            assert_eq!(shown, (&found["kind"], preemptions), "{source}\n{}", replayed.transcript());
        }
        let id = finding["id"].as_str().unwrap();
        let kept = read(&folder.path().join(format!("findings/{id}.json")));
        assert_eq!(kept["finding"]["explanation"], finding["explanation"], "{source}");
        assert_eq!(finding["explanation"]["missing"], json!([]), "{source}");
    }
}

/// Another time nothing changes: not the schedule, and not which one is the original.
#[test]
fn what_is_minimised_stays_as_it_is() {
    let (_folder, found) = cut_short("c/lost_update.c", Optimisation::O0);
    let schedule = found["schedule_file"].as_str().unwrap();
    let [one, other] = [(); 2].map(|()| {
        let outcome = minimise(schedule);
        (outcome.finding()["explanation"]["original"].clone(), fs::read(schedule).unwrap())
    });
    assert_eq!(one, other);
}

#[test]
fn only_the_failing_schedule_of_a_finding_can_be_minimised() {
    let (folder, found) = cut_short("c/lost_update.c", Optimisation::O0);
    let schedule = found["schedule_file"].as_str().unwrap();
    let elsewhere = folder.path().join("copy.json");
    fs::copy(schedule, &elsewhere).unwrap();
    let outcome = minimise(elsewhere.to_str().unwrap());
    assert_eq!(outcome.code, 3, "{}", outcome.transcript());
    assert!(
        outcome.stderr.contains("is not the failing schedule of a finding that a store keeps"),
        "{}",
        outcome.transcript()
    );
}

#[test]
fn its_lines_are_those_of_an_exploration() {
    let (_folder, found) = cut_short("c/lost_update.c", Optimisation::O0);
    let schedule = found["schedule_file"].as_str().unwrap();
    let outcome = Tool::new(["minimise", "--format", "jsonl", schedule]).run().unwrap();
    let lines: Vec<Value> = outcome.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let rest: Vec<&Value> = lines.iter().filter(|line| line["type"] != "progress").collect();
    let [finding, report] = rest[..] else { panic!("{}", outcome.transcript()) };
    assert_eq!((&finding["type"], &report["type"]), (&json!("finding"), &json!("report")));
    assert_eq!(finding["finding"]["id"], found["id"]);
    assert_eq!(finding["finding"], report["report"]["findings"][0]);
}
