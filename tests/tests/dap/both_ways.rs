//! The rule that holds in every language and at every level: the way back is the way forward, in reverse.

use serde_json::{Value, json};
use tests::{Build, Found, Optimisation, targets};

use crate::client::{Client, Place};
use crate::starts::rust_test;

const SOURCES: [&str; 3] = ["stepping/lines.c", "stepping/cpp/lines.cpp", "stepping/rust/lines.rs"];

/// A session of every program, at its first line.
fn sessions() -> impl Iterator<Item = (String, Client)> {
    let each = SOURCES.iter().flat_map(|source| Optimisation::ALL.map(|level| (*source, level)));
    each.map(|(source, level)| {
        let mut client = Client::of(source, level);
        client.rewind();
        (format!("{source} {}", level.name()), client)
    })
}

/// A session of a program, where its first worker stands at its first line.
fn first_worker(source: &str, level: Optimisation) -> Client {
    let mut client = Client::of(source, level);
    client.rewind();
    while client.go("next", 1).2 != "create second" {}
    while client.go("next", 2).2 != "begin" {}
    client
}

/// The threads, each with what it is up to and the lines of its calls.
fn threads(client: &mut Client) -> Vec<(String, Vec<u64>)> {
    let body = client.adapter.succeed("threads", &Value::Null);
    let threads = body["threads"].as_array().cloned().unwrap_or_default();
    let mut stands = Vec::new();
    for thread in threads {
        let body = client.adapter.succeed("stackTrace", &json!({"threadId": thread["id"]}));
        let frames = body["stackFrames"].as_array().cloned().unwrap_or_default();
        let lines = frames.iter().map(|frame| frame["line"].as_u64().unwrap_or_default()).collect();
        stands.push((thread["name"].as_str().unwrap_or_default().to_owned(), lines));
    }
    stands
}

/// Whether the thread of the last stop is one of those that exist, and has a stack.
fn names_a_thread_that_is_there(client: &mut Client) -> bool {
    let thread = client.stop["threadId"].clone();
    let body = client.adapter.succeed("threads", &Value::Null);
    let is_there = body["threads"].as_array().into_iter().flatten().any(|known| known["id"] == thread);
    is_there && client.adapter.request("stackTrace", &json!({"threadId": thread}))["success"] == true
}

#[test]
fn lines_are_stepped_through_back_as_they_were_forward() {
    for (name, mut client) in sessions() {
        let mut forward = vec![client.place()];
        while client.stop["reason"] != "exception" {
            forward.push(client.go("next", 1));
            assert!(forward.len() < 40, "{name}: {forward:?}");
        }
        // The failure is in the middle of the line that fails.
        assert_eq!(forward.pop().map(|place| place.2), forward.last().map(|place| place.2.clone()), "{name}");
        // Optimised, there may be no line before the first key point: then that is where it starts, between two lines.
        let first = if name.ends_with("O0") { 0 } else { 1 };
        let mut back: Vec<Place> = (first..forward.len()).map(|_| client.go("stepBack", 1)).collect();
        back.reverse();
        assert_eq!(back, forward[first..], "{name}");
        client.rewind();
        assert_eq!(
            (client.place(), client.position()["step"].as_u64()),
            (forward[0].clone(), Some(0)),
            "{name}"
        );
    }
}

#[test]
fn a_private_variable_has_its_values_in_both_directions_in_every_language() {
    for (source, count) in [("stepping/cpp/lines.cpp", false), ("stepping/rust/lines.rs", true)] {
        let mut client = first_worker(source, Optimisation::O0);
        let mut seen = vec![client.place().2];
        let mut values = Vec::new();
        while client.go("next", 2).2 != "keep" {
            seen.push(client.place().2);
            values.push(client.value("local"));
        }
        let round = if count { vec!["loop", "body", "count"] } else { vec!["loop", "body"] };
        let lines = [vec!["begin"], round.clone(), round, vec!["loop", "read", "call", "write"]].concat();
        assert_eq!(seen, lines, "{source}");
        let expected = match count {
            true => vec!["1", "1", "10", "10", "10", "101", "101", "101", "101", "202"],
            false => vec!["1", "1", "10", "10", "101", "101", "101", "202"],
        };
        assert_eq!(values, expected, "{source}");
        let mut back = Vec::new();
        for _ in 0..values.len() {
            client.go("stepBack", 2);
            back.push(client.value("local"));
        }
        back.reverse();
        assert_eq!(back, values, "{source}");
    }
}

#[test]
fn calls_are_stepped_into_and_out_of_both_ways_in_every_language() {
    for source in SOURCES {
        let mut client = first_worker(source, Optimisation::O0);
        while client.go("next", 2).2 != "call" {}
        assert_eq!(client.go("stepIn", 2).2, "in twice", "{source}");
        assert_eq!(client.value("value"), "101", "{source}");
        assert_eq!(client.go("stepOut", 2).2, "call", "{source}");
        assert_eq!(client.go("next", 2).2, "write", "{source}");
        assert_eq!(client.go("interleaver/stepBackInto", 2).2, "end of twice", "{source}");
        assert_eq!(client.go("interleaver/stepBackOut", 2).2, "call", "{source}");
        assert_eq!(client.go("stepBack", 2).2, "read", "{source}");
    }
}

#[test]
fn every_step_can_be_gone_to_and_stands_where_stepping_does() {
    let mut client = Client::of("stepping/lines.c", Optimisation::O0);
    let steps = client.position()["steps"].as_u64().unwrap();
    let mut stands = Vec::new();
    for step in 0..=steps {
        let position = client.adapter.succeed("interleaver/goToStep", &json!({"step": step}));
        assert_eq!(position["step"], step);
        client.stop = client.adapter.event("stopped");
        stands.push((position["event"].clone(), threads(&mut client)));
        // Also after the last step of a thread.
        assert!(names_a_thread_that_is_there(&mut client), "step {step}: {}", client.stop);
    }
    for (step, stands) in stands.iter().enumerate().rev().skip(1) {
        client.stop = client.adapter.go("stepBack", &json!({"threadId": 1, "granularity": "instruction"}));
        let position = client.position();
        assert_eq!(position["step"], step);
        assert_eq!((position["event"].clone(), threads(&mut client)), *stands, "step {step}");
    }
    client.adapter.succeed("interleaver/goToStep", &json!({"step": 0}));
    client.stop = client.adapter.event("stopped");
    while client.stop["reason"] != "exception" {
        client.stop = client.adapter.go("next", &json!({"threadId": 1, "granularity": "instruction"}));
        assert!(names_a_thread_that_is_there(&mut client), "{}", client.stop);
    }
    // Editors keep the last stop until they hear that it is over, be it by a move that they know or by an event.
    client.adapter.seen("continued");
    for (command, arguments, said) in [
        ("interleaver/goToStep", json!({"step": 1}), 1),
        ("interleaver/nextSwitch", Value::Null, 1),
        ("interleaver/previousSwitch", Value::Null, 1),
        ("next", json!({"threadId": 1}), 0),
    ] {
        client.adapter.go(command, &arguments);
        assert_eq!(client.adapter.seen("continued").len(), said, "{command}");
    }
    // The second one is larger than any position.
    for step in [steps + 1, (1 << 32) + 1] {
        let beyond = client.adapter.refused("interleaver/goToStep", &json!({"step": step}));
        assert_eq!(beyond, format!("the schedule has {steps} steps, so there is no step {step}"));
    }
}

/// A timer has no code, and is the thread of its own steps all the same.
#[test]
fn steps_of_a_timer_are_gone_to_as_those_of_threads() {
    let mut client = Client::of("timers/pair_in_handler.c", Optimisation::O0);
    let steps = client.position()["steps"].as_u64().unwrap();
    let mut stands = Vec::new();
    for step in 0..=steps {
        client.adapter.succeed("interleaver/goToStep", &json!({"step": step}));
        client.stop = client.adapter.event("stopped");
        stands.push((client.position()["event"].clone(), threads(&mut client)));
    }
    assert!(stands.iter().any(|(event, _)| event["thread"] == 2), "{stands:?}");
    for stands in stands.iter().rev().skip(1) {
        client.stop = client.adapter.go("stepBack", &json!({"threadId": 1, "granularity": "instruction"}));
        assert_eq!((client.position()["event"].clone(), threads(&mut client)), *stands);
    }
    client.go("continue", 1);
    assert_eq!(client.stop["reason"], "exception", "{}", client.stop);
}

#[test]
fn the_start_of_a_rust_test_is_its_own_first_line() {
    for level in Optimisation::ALL {
        let mut client = rust_test("loses_an_update", level);
        let test = client.found.line("fn loses_an_update");
        let lines = test..=client.found.line("adder.join");
        for command in ["reverseContinue", "interleaver/previousSwitch"] {
            while client.stop["reason"] != "entry" {
                client.go(command, 1);
            }
            assert_eq!(client.description(), "the start", "{level:?} {command}");
            assert!(names_a_thread_that_is_there(&mut client), "{level:?} {command}: {}", client.stop);
            let line = client.own_frame(1)["line"].as_u64().unwrap();
            assert!(lines.contains(&line), "{level:?} {command}: line {line}");
            client.go("continue", 1);
        }
    }
}

#[test]
fn a_further_step_back_runs_the_program_once_and_a_step_forward_not_at_all() {
    let source = "stepping/counted.c";
    let program = Build::new(source, Optimisation::O0).program().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let runs = folder.path().join("runs");
    let found = Found::with_arguments(program, &targets().join(source), &[runs.to_str().unwrap()]);
    let mut client = Client::open(found);
    let runs = || std::fs::metadata(&runs).unwrap().len();
    client.go("stepBack", 1);
    let mut before = runs();
    for (command, word, cost) in [
        ("stepBack", "loop", 1),
        ("stepBack", "unlock", 1),
        ("next", "loop", 0),
        ("stepBack", "unlock", 1),
        ("stepBack", "count", 1),
        ("stepBack", "lock", 1),
        ("next", "count", 0),
        ("stepBack", "lock", 1),
    ] {
        assert_eq!(client.go(command, 1).2, word);
        assert_eq!(runs() - before, cost, "{command} to `{word}`");
        before = runs();
    }
}
