//! Views of a session that stands: threads, variables, expressions, output.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tests::Optimisation;

use crate::client::Client;

/// Names and values of what is inside of something.
fn inside(client: &mut Client, reference: &Value) -> BTreeMap<String, String> {
    let body = client.adapter.succeed("variables", &json!({"variablesReference": reference}));
    let variables = body["variables"].as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    variables.iter().map(|variable| (text(&variable["name"]), text(&variable["value"]))).collect()
}

/// The locals of the innermost frame of the user's own in the thread of the stop.
fn locals(client: &mut Client) -> BTreeMap<String, String> {
    let thread = client.stop["threadId"].as_u64().unwrap();
    let frame = client.own_frame(thread)["id"].clone();
    let body = client.adapter.succeed("scopes", &json!({"frameId": frame}));
    let scopes = body["scopes"].as_array().cloned().unwrap_or_default();
    let locals = scopes.iter().find(|scope| scope["name"] == "Locals").unwrap_or(&Value::Null);
    inside(client, &locals["variablesReference"])
}

fn assert_values(found: &BTreeMap<String, String>, expected: &[(&str, &str)]) {
    for (name, value) in expected {
        assert_eq!(found.get(*name).map(String::as_str), Some(*value), "{name} in {found:#?}");
    }
}

#[test]
fn a_pointer_that_was_optimised_away_says_what_it_points_to() {
    let mut client = Client::of("stepping/erased.c", Optimisation::O2);
    assert_values(&locals(&mut client), &[("object", "7"), ("known", "&7"), ("erased", "&object")]);
}

#[test]
fn variables_of_c_are_shown_as_their_types_say() {
    let mut client = Client::of("stepping/values.c", Optimisation::O0);
    let found = locals(&mut client);
    assert_values(
        &found,
        &[
            ("ready", "true"),
            ("letter", "120 'x'"),
            ("real", "2.5"),
            ("colour", "GREEN"),
            ("points", "[point { x: 1, y: 2 }, point { x: 3, y: -4 }]"),
            ("large", "18446744073709551615"),
        ],
    );
    for (expression, value) in [
        ("second->y", "-4"),
        ("(*second).x", "3"),
        ("points[0].y", "2"),
        ("*&points[1].x", "3"),
        ("counter", "1"),
        ("word.bytes[3]", "63 '?'"),
    ] {
        assert_eq!(client.value(expression), value, "{expression}");
    }
    assert!(found["text"].contains("\"in a string\""), "{found:#?}");
}

#[test]
fn variables_of_the_cpp_library_are_shown_as_its_users_think_of_them() {
    let mut client = Client::of("stepping/cpp/values.cpp", Optimisation::O0);
    let expected = [
        ("name", "\"a name that is too long to be kept inside\""),
        ("numbers", "[1, 2, 3] (len 3)"),
        ("counter", "1"),
    ];
    assert_values(&locals(&mut client), &expected);
    assert_eq!((client.value("*shared"), client.value("numbers[2]")), ("41".to_owned(), "3".to_owned()));
}

#[test]
fn variables_of_the_rust_library_are_shown_as_its_users_think_of_them() {
    let mut client = Client::of("stepping/rust/values.rs", Optimisation::O0);
    let expected = [
        ("name", "\"a name\""),
        ("numbers", "[1, 2, 3] (len 3)"),
        ("some", "Some(5)"),
        ("shapes", "[Circle { radius: 1.5 }, Empty]"),
        ("balance", "Mutex { locked: false, poisoned: false, data: 41 }"),
    ];
    assert_values(&locals(&mut client), &expected);
    assert_eq!(client.value("numbers[1]"), "2");
}

#[test]
fn what_the_compiler_does_not_keep_is_said_to_be_optimised_out() {
    let mut client = Client::of("stepping/values.c", Optimisation::O2);
    let found = locals(&mut client);
    let known = [("ready", "true"), ("real", "2.5"), ("colour", "GREEN"), ("letter", "120 'x'")];
    for (name, value) in known {
        // Either it is right, or it is said that it is not there: nothing else.
        assert!([value, "optimised out"].contains(&found[name].as_str()), "{name} in {found:#?}");
    }
}

#[test]
fn looking_changes_nothing() {
    let mut client = Client::of("stepping/lines.c", Optimisation::O0);
    let place = (client.place(), client.position());
    for (expression, why) in [
        ("shared = 7", "nothing is changed in the program: assignments cannot be evaluated"),
        ("shared++", "nothing is changed in the program: assignments cannot be evaluated"),
        ("twice(shared)", "nothing is run in the program: calls cannot be evaluated"),
        ("nobody", "`nobody` is not a variable here"),
        ("", "there is nothing to evaluate"),
    ] {
        let frame = client.own_frame(1)["id"].clone();
        let said = client
            .adapter
            .refused("evaluate", &json!({"expression": expression, "frameId": frame, "context": "repl"}));
        assert_eq!(said, why, "{expression}");
    }
    assert_eq!((client.value("shared"), client.value("results")), ("1".to_owned(), "[202, 202]".to_owned()));
    assert_eq!((client.place(), client.position()), place);
    client.rewind();
    assert_eq!(client.value("shared"), "0");
    client.go("continue", 1);
    assert_eq!((client.place(), client.position()), place);
}

#[test]
fn threads_are_listed_with_what_they_are_up_to() {
    let mut client = Client::of("c/lock_order.c", Optimisation::O0);
    let names = |client: &mut Client| -> Vec<String> {
        let body = client.adapter.succeed("threads", &Value::Null);
        let threads = body["threads"].as_array().cloned().unwrap_or_default();
        threads.iter().map(|thread| thread["name"].as_str().unwrap_or_default().to_owned()).collect()
    };
    assert_eq!(
        names(&mut client),
        [
            "T1 main · waits for T2 to end",
            "T2 pay_rent · blocked on lock current.lock",
            "T3 put_aside · blocked on lock savings.lock",
        ]
    );
    client.rewind();
    assert_eq!(names(&mut client), ["T1 main"]);
    client.stop = client.adapter.go("next", &json!({"threadId": 1, "granularity": "instruction"}));
    assert_eq!(names(&mut client), ["T1 main · about to create a thread"]);
}

#[test]
fn threads_come_and_go_as_the_session_moves_over_their_ends() {
    let mut client = Client::of("stepping/lines.c", Optimisation::O0);
    client.rewind();
    client.adapter.seen("thread");
    client.adapter.succeed("interleaver/goToStep", &json!({"step": 1}));
    client.adapter.event("stopped");
    assert_eq!(client.adapter.seen("thread"), [json!({"reason": "started", "threadId": 2})]);
    client.rewind();
    assert_eq!(client.adapter.seen("thread"), [json!({"reason": "exited", "threadId": 2})]);
}

#[test]
fn output_is_sent_once_and_what_there_is_of_it_is_said_after_going_back() {
    let mut client = Client::of("stepping/lines.c", Optimisation::O0);
    let mut sent = String::new();
    let mut said = Vec::new();
    let mut listen = |client: &mut Client| {
        let outputs = std::mem::take(&mut client.said).into_iter().chain(client.adapter.seen("output"));
        for output in outputs {
            let text = output["output"].as_str().unwrap_or_default().to_owned();
            match output["category"].as_str() {
                Some("stdout") => sent.push_str(&text),
                Some("console") => said.push(text),
                _ => {}
            }
        }
        (sent.clone(), std::mem::take(&mut said))
    };
    assert_eq!(listen(&mut client).0, "one\ntwo\n");
    while client.go("stepBack", 1).2 != "join first" {}
    let (sent, said) = listen(&mut client);
    assert_eq!(sent, "one\ntwo\n", "nothing is sent twice");
    let last = said.last().cloned().unwrap_or_default();
    assert!(last.ends_with(": up to here, standard output ends with `one`]\n"), "{said:?}");
    client.rewind();
    let (_, said) = listen(&mut client);
    assert_eq!(said.len(), 1);
    assert!(said[0].ends_with(": up to here, nothing has been written yet]\n"), "{said:?}");
    client.go("continue", 1);
    assert_eq!(listen(&mut client), ("one\ntwo\n".to_owned(), Vec::new()));
}
