//! A client gets a sentence, whatever it sends, and the adapter goes on.

use std::fs;

use serde_json::{Value, json};
use tests::{Adapter, Found, Optimisation, running, workspace};

fn found() -> Found {
    Found::in_target("c/three_threads.c", Optimisation::O0)
}

/// The adapter serves a whole session.
fn assert_serves(adapter: &mut Adapter, found: &Found) {
    adapter.succeed("launch", &json!({"schedule": found.schedule, "folder": workspace()}));
    adapter.event("initialized");
    adapter.succeed("configurationDone", &Value::Null);
    assert_eq!(adapter.event("stopped")["reason"], "exception");
    adapter.succeed("disconnect", &Value::Null);
    assert_eq!(adapter.wait(), Some(0));
}

#[test]
fn what_is_no_request_is_answered_with_what_is_wrong() {
    let mut adapter = Adapter::start().unwrap();
    for (bytes, sentence) in [
        ("Content-Length: 3\r\n\r\n{]}", "a message that is no JSON"),
        ("Content-Length: many\r\n\r\n", "a message without a valid Content-Length header"),
        ("Content-Length: 2\r\n\r\n[]", "a message of type `` is not expected here"),
        ("Content-Length: 4\r\n\r\nnull", "a message of type `` is not expected here"),
        ("Content-Length: 18\r\n\r\n{\"type\":\"request\"}", "this is no request: "),
        ("Content-Length: 16\r\n\r\n{\"type\":\"event\"}", "a message of type `event` is not expected here"),
    ] {
        adapter.send_raw(bytes.as_bytes());
        let response = adapter.response(0);
        assert_eq!(response["success"], false, "{bytes}");
        let said = response["message"].as_str().unwrap_or_default();
        assert!(said.starts_with(sentence), "{bytes}: {said}");
    }
    assert_serves(&mut adapter, &found());
}

#[test]
fn requests_before_there_is_a_session_are_refused() {
    let mut adapter = Adapter::start().unwrap();
    for command in [
        "stackTrace",
        "scopes",
        "variables",
        "evaluate",
        "next",
        "stepBack",
        "continue",
        "reverseContinue",
        "configurationDone",
        "exceptionInfo",
        "restart",
        "interleaver/position",
        "interleaver/nextSwitch",
        "setExceptionBreakpoints",
        "loadedSources",
        "source",
    ] {
        let arguments = json!({
            "threadId": 1, "frameId": 1, "variablesReference": 1, "expression": "x", "sourceReference": 1,
        });
        let said = adapter.refused(command, &arguments);
        let expected = match command {
            "scopes" => "the session has moved on: ask for the stack again",
            "variables" => "the session has moved on: ask again",
            "evaluate" => "the session has moved on: ask for the stack again",
            _ => "no schedule has been launched yet",
        };
        assert_eq!(said, expected, "{command}");
    }
    let place = json!({"source": {"path": "x.c"}, "breakpoints": [{"line": 1}]});
    assert_eq!(adapter.refused("setBreakpoints", &place), "no schedule has been launched yet");
    assert_eq!(adapter.succeed("threads", &Value::Null), json!({"threads": []}));
    assert_eq!(adapter.refused("flyAway", &Value::Null), "`flyAway` is not supported");
    assert!(
        adapter.refused("launch", &json!({})).starts_with("the arguments of `launch` are not understood")
    );
    assert_serves(&mut adapter, &found());
}

#[test]
fn what_is_asked_for_and_is_not_there_is_refused() {
    let found = found();
    let (mut adapter, _) = Adapter::launched(&found.schedule, workspace());
    for (command, arguments, expected) in [
        ("stackTrace", json!({"threadId": 99}), "there is no thread 99 here"),
        ("stackTrace", json!({"threadId": 0}), "there is no thread 0 here"),
        ("next", json!({"threadId": 99}), "there is no thread 99 here"),
        ("stepBack", json!({}), "there is no thread 0 here"),
        ("scopes", json!({"frameId": 99}), "the session has moved on: ask for the stack again"),
        ("scopes", json!({"frameId": -1}), "the session has moved on: ask for the stack again"),
        ("variables", json!({"variablesReference": 0}), "the session has moved on: ask again"),
        ("source", json!({"sourceReference": 1}), "there is no source of number 1"),
        ("setBreakpoints", json!({"source": {}}), "a breakpoint needs a file"),
        ("attach", json!({}), "a schedule is launched: there is nothing to attach to"),
    ] {
        assert_eq!(adapter.refused(command, &arguments), expected, "{command} {arguments}");
    }
    for (command, arguments) in [
        ("next", json!({"threadId": "two"})),
        ("stackTrace", json!({"threadId": 1, "levels": -3})),
        ("interleaver/goToStep", json!({"step": -1})),
        ("setBreakpoints", json!([])),
    ] {
        let said = adapter.refused(command, &arguments);
        assert!(said.starts_with(&format!("the arguments of `{command}` are not understood: ")), "{said}");
    }
    adapter.succeed("disconnect", &Value::Null);
    assert_eq!(adapter.wait(), Some(0));
}

#[test]
fn a_schedule_that_cannot_be_used_is_refused_in_a_sentence() {
    let found = found();
    let folder = tempfile::tempdir().unwrap();
    let text = fs::read_to_string(&found.schedule).unwrap();
    let cases = [
        ("cut.json", text[..text.len() / 2].to_owned()),
        ("empty.json", String::new()),
        ("other.json", "{\"format\": \"something\"}".to_owned()),
        ("binary.json", "\u{0}\u{1}".to_owned()),
    ];
    let mut adapter = Adapter::start().unwrap();
    for (name, content) in cases {
        let file = folder.path().join(name);
        fs::write(&file, content).unwrap();
        let said = adapter.refused("launch", &json!({"schedule": file, "folder": workspace()}));
        assert!(said.contains(name), "{said}");
    }
    let said = adapter.refused("launch", &json!({"schedule": folder.path(), "folder": workspace()}));
    assert!(!said.is_empty());
    assert_serves(&mut adapter, &found);
}

#[test]
fn a_client_that_dies_takes_the_program_with_it() {
    // One that no other test runs at the same time.
    let found = Found::in_target("c/order_violation.c", Optimisation::O0);
    let (adapter, _) = Adapter::launched(&found.schedule, workspace());
    assert_ne!(running(&found.program), [] as [i32; 0]);
    adapter.close();
    assert_eq!(running(&found.program), [] as [i32; 0]);
    let (mut adapter, _) = Adapter::launched(&found.schedule, workspace());
    adapter.kill();
    // The kernel ends what its tracer leaves behind, by the time that the tracer is gone or soon after.
    let limit = std::time::Instant::now() + tests::WATCHDOG;
    while !running(&found.program).is_empty() {
        assert!(std::time::Instant::now() < limit, "the program outlives its adapter");
        std::thread::yield_now();
    }
}
