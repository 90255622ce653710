//! Nothing is read from a sentence: with every sentence scrambled, all that is data is what it was.

use serde_json::Value;

use super::*;
use crate::say;

/// The members that hold a sentence. The message of a failure is the program's where the program says why it fails.
const SENTENCES: [&str; 10] =
    ["doing", "ended", "harm", "headline", "message", "missing", "notes", "reason", "sentence", "text"];

/// The members that differ from one run to the next.
const OF_RUN: [&str; 2] = ["elapsed_seconds", "schedules_per_second"];

const PROGRAMS: [&str; 8] = [
    LOST_UPDATE,
    LOCK_ORDER,
    CLEAN,
    "T1: create T2, lock m, r x, if x == 0 { wait c m }, unlock m, join T2 | T2: w x, lock m, signal c, unlock m",
    "T1: create T2, w y, w x, join T2 | T2: r y, if y { await z }",
    "T1: create T2, r x, if x { unlock m }, join T2 | T2: w x",
    "T1: create T2, lock a, timedlock b, if b { unlock b }, unlock a, join T2 \
     | T2: lock b, lock a, unlock a, unlock b",
    "T1: create T2, create T3, join T2, join T3, r x, assert x == 2 \
     | T2: trylock m, if m { r x, w x x+1, unlock m } | T3: trylock m, if m { r x, w x x+1, unlock m }",
];

fn explored(program: &str) -> Explored {
    explore_with(program, |request| {
        (request.explain, request.races, request.keep_going) = (true, true, true);
        request.explain_time = Duration::MAX;
    })
}

/// Compares two members of that name, and all in them.
fn compare(name: &str, plain: &Value, scrambled: &Value) {
    match (plain, scrambled) {
        _ if OF_RUN.contains(&name) => {}
        (Value::Object(plain), Value::Object(scrambled)) => {
            let names =
                |members: &serde_json::Map<String, Value>| members.keys().cloned().collect::<Vec<_>>();
            assert_eq!(names(plain), names(scrambled), "{name}");
            plain
                .iter()
                .zip(scrambled.values())
                .for_each(|((name, plain), other)| compare(name, plain, other));
        }
        (Value::Array(plain), Value::Array(scrambled)) => {
            assert_eq!(plain.len(), scrambled.len(), "{name}");
            plain.iter().zip(scrambled).for_each(|(plain, scrambled)| compare(name, plain, scrambled));
        }
        (Value::String(plain), Value::String(scrambled)) if name == "schedule_file" => {
            assert_eq!(Path::new(plain).file_name(), Path::new(scrambled).file_name());
        }
        (Value::String(plain), Value::String(scrambled)) if SENTENCES.contains(&name) => {
            let is_of_program = name == "message" && plain == scrambled;
            assert!(is_of_program || say::scramble(plain) == *scrambled, "{name}: {plain}: {scrambled}");
        }
        _ => assert_eq!(plain, scrambled, "{name}"),
    }
}

#[test]
fn nothing_is_read_from_a_sentence() {
    for program in PROGRAMS {
        let (plain, scrambled) = (explored(program), say::scrambled(|| explored(program)));
        let [told, other] = [&plain, &scrambled].map(|run| serde_json::to_value(&run.report).unwrap());
        compare("report", &told, &other);
        let is_told = |report: &Report| report.findings.iter().all(|finding| finding.explanation.is_some());
        assert!(is_told(&plain.report), "{program}");
    }
}

#[test]
fn a_schedule_with_scrambled_sentences_replays() {
    for program in [LOST_UPDATE, LOCK_ORDER] {
        let explored = say::scrambled(|| explored(program));
        let again = replay(&explored.schedule_file(), program, "build-1").unwrap();
        assert_eq!(again.findings[0].kind, explored.report.findings[0].kind);
        let found =
            |report: &Report| report.findings[0].parties.iter().map(|party| party.role).collect::<Vec<_>>();
        assert_eq!(found(&again), found(&explored.report));
    }
}
