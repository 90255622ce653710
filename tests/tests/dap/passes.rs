//! The schedule beside the failing one in which nothing fails, as a session.

use std::path::Path;

use serde_json::{Value, json};
use tests::{Build, Found, Optimisation, targets};

use crate::client::Client;

/// A session of the schedule that passes; each target fails in the line that says so.
fn passing(mut found: Found) -> Client {
    found.schedule.set_extension("passing.json");
    Client::open(found)
}

/// The order that makes it pass, from the file: the numbers of its events.
fn order(schedule: &Path) -> [u64; 2] {
    let saved: Value = serde_json::from_slice(&std::fs::read(schedule).unwrap()).unwrap();
    let order = &saved["passes"]["order"][0];
    [0, 1].map(|at| order[at].as_u64().unwrap_or_else(|| panic!("{saved}")))
}

/// Begins before the first of two events, and ends well, whichever way it gets there. `words` are said of their order.
fn check(found: Found, words: &str) {
    let mut client = passing(found);
    let [first, second] = order(&client.found.schedule);
    assert!(first < second);
    let steps = client.position()["steps"].as_u64().unwrap();
    assert_eq!(client.position()["step"], first);
    assert_eq!(client.description(), format!("step {first} of {steps} · the order that makes it pass"));
    let said = format!("it passes where these come in this order: {words}");
    assert_eq!(client.stop["text"], said, "{}", client.stop);
    let (thread, place) = (client.stop["threadId"].as_u64().unwrap(), client.place());
    assert_eq!(client.position()["event"]["thread"], thread);

    client.go("continue", thread);
    assert_eq!((&client.stop["reason"], client.description()), (&json!("step"), ENDS.to_owned()));
    let text = client.stop["text"].as_str().unwrap_or_default().to_owned();
    assert!(text.starts_with("nothing has failed; the schedule that fails ends with: "), "{text}");
    assert_eq!(client.position()["step"], steps);
    // There is a thread to look at, and to go back with.
    let (main, end) = (client.stop["threadId"].as_u64().unwrap(), client.place());
    assert_ne!(end.1, "", "{}", client.stop);
    client.go("next", main);
    assert_eq!((client.description(), client.place()), (ENDS.to_owned(), end.clone()));

    // To the beginning of the line, or to the line before.
    client.go("stepBack", main);
    assert_ne!(client.description(), ENDS);
    client.rewind();
    assert_eq!((client.description(), &client.position()["step"]), ("the start".to_owned(), &json!(0)));
    client.go("interleaver/nextSwitch", 1);
    assert!(client.description().contains(" · switched to "), "{}", client.stop);
    client.go("continue", 1);
    assert_eq!((client.description(), client.place()), (ENDS.to_owned(), end));
    client.stop = client.adapter.go("restart", &Value::Null);
    assert_eq!((client.position()["step"].as_u64(), client.place()), (Some(first), place));
}

const ENDS: &str = "the end: the execution passed";

#[test]
fn a_c_program_passes() {
    for level in Optimisation::ALL {
        let found = Found::explained("c/lost_update.c", level);
        check(found, "T2: write `page_views`; then T3: read `page_views`");
    }
}

#[test]
fn a_cpp_program_passes() {
    for (level, access) in [(Optimisation::O0, "update"), (Optimisation::O2, "write")] {
        let words = format!("T3: {access} `printing`; then T2: read `printing`");
        check(Found::explained("cpp/semaphore.cpp", level), &words);
    }
}

#[test]
fn a_rust_program_passes() {
    for level in Optimisation::ALL {
        check(
            Found::explained("rust/snapshot.rs", level),
            "T3: read `SCREEN[1]`; then T2: write `SCREEN[1]`",
        );
    }
}

/// The lock that a thread was left without comes first.
#[test]
fn a_program_without_its_deadlock_passes() {
    check(
        Found::explained("c/lock_order.c", Optimisation::O0),
        "T3: lock `savings.lock`; then T2: lock `savings.lock`",
    );
}

#[test]
fn a_rust_test_passes() {
    let source = "frameworks/rust_tests.rs";
    let program = Build::new(source, Optimisation::O0).flag("--test").program().unwrap();
    let arguments = ["--exact", "loses_an_update", "--nocapture", "--test-threads=1"];
    let total = "`AtomicU32 (block 1 of main/1 from rust_tests::loses_an_update)`";
    check(
        Found::explained_with_arguments(program, &targets().join(source), &arguments),
        &format!("T2: update {total}; then T1: read {total}"),
    );
}

/// Without its program, what the file says is shown.
#[test]
fn what_was_recorded_passes_too() {
    let mut found = Found::explained("c/lost_update.c", Optimisation::O0);
    found.schedule.set_extension("passing.json");
    let text = std::fs::read_to_string(&found.schedule).unwrap();
    let name = found.program.to_str().unwrap();
    let elsewhere = found.schedule.with_file_name("elsewhere.json");
    let relative = found.program.strip_prefix(tests::workspace()).map_or(name, |path| path.to_str().unwrap());
    std::fs::write(&elsewhere, text.replace(relative, "/gone/lost_update")).unwrap();
    let [first, _] = order(&elsewhere);
    let (mut adapter, stop) = tests::Adapter::launched(&elsewhere, tests::workspace());
    let said = adapter.seen("output");
    assert!(
        said[0]["output"].as_str().unwrap_or_default().starts_with("only the recorded steps are shown"),
        "{said:?}"
    );
    assert_eq!(adapter.succeed("interleaver/position", &Value::Null)["step"], first);
    let end = adapter.go("continue", &json!({"threadId": stop["threadId"]}));
    assert_eq!((&end["reason"], &end["description"]), (&json!("step"), &json!(ENDS)));
}
