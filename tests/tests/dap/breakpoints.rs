//! Breakpoints and filters are met alike in both directions.

use serde_json::{Value, json};
use tests::Optimisation;

use crate::client::Client;

/// Sets breakpoints at the lines with these words, each with what is asked of it.
fn set(client: &mut Client, wanted: &[(&str, Value)]) -> Vec<Value> {
    let breakpoints: Vec<Value> = wanted
        .iter()
        .map(|(words, more)| {
            let mut breakpoint = more.clone();
            breakpoint["line"] = json!(client.found.line(words));
            breakpoint
        })
        .collect();
    let arguments = json!({"source": {"path": client.found.source}, "breakpoints": breakpoints});
    let body = client.adapter.succeed("setBreakpoints", &arguments);
    body["breakpoints"].as_array().cloned().unwrap_or_default()
}

/// A stop: the step, the thread, the words of the line, why, and which breakpoints.
type Visit = (u64, u64, String, Value, Value);

/// All stops on the way to an end, which is none of them, and what log points say.
fn visits(client: &mut Client, command: &str, end: &str) -> (Vec<Visit>, Vec<String>) {
    let mut visits = Vec::new();
    // Earlier output is of no interest.
    client.adapter.seen("output");
    loop {
        let (thread, _, words) = client.go(command, 1);
        if client.stop["reason"] == end {
            let said = client.adapter.seen("output").into_iter().filter(|said| said["category"] == "console");
            let said = said.map(|said| said["output"].as_str().unwrap_or_default().trim_end().to_owned());
            // The end of the program's own output here is another matter.
            return (visits, said.filter(|said| !said.starts_with("[step ")).collect());
        }
        let step = client.position()["step"].as_u64().unwrap();
        let stop =
            (step, thread, words, client.stop["reason"].take(), client.stop["hitBreakpointIds"].take());
        visits.push(stop);
        assert!(visits.len() < 60, "{visits:?}");
    }
}

/// The stops and messages on the way forward, which have to be those of the way back.
fn both_ways(client: &mut Client) -> (Vec<Visit>, Vec<String>) {
    client.go("continue", 1);
    while client.stop["reason"] != "exception" {
        client.go("continue", 1);
    }
    let (mut back, mut said_back) = visits(client, "reverseContinue", "entry");
    let (forward, said) = visits(client, "continue", "exception");
    back.reverse();
    said_back.reverse();
    assert_eq!(back, forward);
    assert_eq!(said_back, said);
    (forward, said)
}

#[test]
fn breakpoints_are_hit_alike_in_both_directions() {
    for (source, level, hits) in [
        ("stepping/lines.c", Optimisation::O0, 6),
        ("stepping/cpp/lines.cpp", Optimisation::O0, 6),
        ("stepping/rust/lines.rs", Optimisation::O0, 6),
        ("stepping/lines.c", Optimisation::O2, 2),
        ("stepping/cpp/lines.cpp", Optimisation::O2, 2),
        ("stepping/rust/lines.rs", Optimisation::O2, 2),
    ] {
        let mut client = Client::of(source, level);
        // Optimised, the loop is not there any more.
        let body = if level == Optimisation::O0 { "body" } else { "write" };
        let set = set(&mut client, &[(body, json!({})), ("write", json!({}))]);
        assert!(set.iter().all(|set| set["verified"] == true), "{source}: {set:?}");
        let (visits, _) = both_ways(&mut client);
        assert_eq!(visits.len(), hits, "{source} {level:?}: {visits:?}");
        for thread in [2, 3] {
            let own = visits.iter().filter(|visit| visit.1 == thread).count();
            assert_eq!(own, hits / 2, "{source} {level:?}: {visits:?}");
        }
    }
}

#[test]
fn filters_are_met_alike_in_both_directions_also_where_breakpoints_are() {
    for source in ["stepping/lines.c", "stepping/cpp/lines.cpp", "stepping/rust/lines.rs"] {
        let mut client = Client::of(source, Optimisation::O0);
        for filters in [json!(["bug", "preemption"]), json!(["bug", "switch"])] {
            client.adapter.succeed("setExceptionBreakpoints", &json!({"filters": filters}));
            set(&mut client, &[]);
            let (alone, _) = both_ways(&mut client);
            let reasons: Vec<_> = alone.iter().map(|visit| visit.3.clone()).collect();
            assert!(reasons.contains(&json!("preemption")), "{source}: {reasons:?}");
            assert_eq!(reasons.contains(&json!("switch")), filters[1] == "switch", "{source}: {reasons:?}");
            set(&mut client, &[("read", json!({})), ("write", json!({}))]);
            let (together, _) = both_ways(&mut client);
            // If a thread stands at both, it is the breakpoint that is told.
            let is_breakpoint = |visit: &&Visit| visit.3 == "breakpoint";
            assert_eq!(together.iter().filter(is_breakpoint).count(), 4, "{source}: {together:?}");
            let steps = |visits: &[Visit]| visits.iter().map(|visit| visit.0).collect::<Vec<_>>();
            let all = steps(&together);
            assert!(steps(&alone).iter().all(|step| all.contains(step)), "{source}: {together:?}");
        }
    }
}

#[test]
fn conditions_hold_alike_in_both_directions() {
    let mut client = Client::of("stepping/lines.c", Optimisation::O0);
    for (condition, hits) in [
        ("i == 1", 2),
        ("i", 2),
        ("i < 1 && local == 1", 2),
        ("local > 1 || i == 0", 4),
        ("result == &results[0]", 2),
        ("results[0] == 202", 0),
    ] {
        set(&mut client, &[("body", json!({"condition": condition}))]);
        let (visits, said) = both_ways(&mut client);
        assert_eq!((visits.len(), said.len()), (hits, 0), "{condition}: {visits:?} {said:?}");
    }
    set(&mut client, &[("body", json!({"condition": "unknown == 1"}))]);
    let (visits, said) = both_ways(&mut client);
    assert_eq!(visits.len(), 4, "it is better to stop");
    let line = client.found.line("body");
    let why = format!(
        "The condition of the breakpoint at line {line} is not known: `unknown` is not a variable here."
    );
    assert_eq!(said, vec![why; 4]);
}

#[test]
fn hits_are_counted_alike_in_both_directions() {
    let mut client = Client::of("stepping/lines.c", Optimisation::O0);
    let all = {
        set(&mut client, &[("body", json!({}))]);
        both_ways(&mut client).0
    };
    for (count, expected) in [("2", vec![1]), (">= 3", vec![2, 3]), ("% 2", vec![1, 3]), ("< 2", vec![0])] {
        set(&mut client, &[("body", json!({"hitCondition": count}))]);
        let (visits, _) = both_ways(&mut client);
        let places = |visits: &[Visit]| -> Vec<_> {
            visits.iter().map(|visit| (visit.0, visit.1, visit.2.clone())).collect()
        };
        let all = places(&all);
        let expected: Vec<_> = expected.into_iter().map(|index: usize| all[index].clone()).collect();
        assert_eq!(places(&visits), expected, "{count}");
    }
    // Of those only that the condition holds for.
    set(&mut client, &[("body", json!({"condition": "i == 1", "hitCondition": "2"}))]);
    assert_eq!(both_ways(&mut client).0.len(), 1);
    assert_eq!(client.rewind().2, "body");
    assert_eq!((client.value("i"), client.stop["threadId"].clone()), ("1".to_owned(), json!(all[3].1)));
    // A step meets it as well, from either side.
    assert_eq!(client.rewind().2, "one");
    set(&mut client, &[("body", json!({"hitCondition": "3"}))]);
    while client.stop["reason"] != "breakpoint" {
        client.go("next", 1);
    }
    assert_eq!(client.position()["step"], all[2].0);
}

#[test]
fn log_points_say_the_same_in_both_directions_and_do_not_stop() {
    let mut client = Client::of("stepping/lines.c", Optimisation::O0);
    set(&mut client, &[("body", json!({"logMessage": "i is {i}, {local * 2}"}))]);
    let (visits, said) = both_ways(&mut client);
    assert_eq!(visits, []);
    assert_eq!(said.len(), 4, "{said:?}");
    for (line, i) in said.iter().zip(["0", "1", "0", "1"]) {
        assert!(line.starts_with(&format!("i is {i}, {{local * 2: ")), "{said:?}");
    }
    // Steps pass it too.
    client.rewind();
    client.adapter.seen("output");
    while client.go("next", 1).2 != "join second" {}
    let steps = client.adapter.seen("output").into_iter();
    let steps = steps.filter(|said| said["output"].as_str().is_some_and(|text| text.starts_with("i is ")));
    assert!(steps.count() >= 2);
}

#[test]
fn a_breakpoint_that_cannot_be_is_said_to_be_none() {
    let mut client = Client::of("stepping/lines.c", Optimisation::O0);
    let beyond = client.found.line("return 0;") + 10;
    let arguments = json!({"source": {"path": client.found.source}, "breakpoints": [
        {"line": beyond}, {"line": 1}, {"line": 1, "condition": "i =="}, {"line": 1, "hitCondition": "often"},
    ]});
    let set = client.adapter.succeed("setBreakpoints", &arguments);
    let set = set["breakpoints"].as_array().cloned().unwrap_or_default();
    let told: Vec<_> = set.iter().map(|set| (set["verified"].clone(), set["message"].clone())).collect();
    assert_eq!(
        told,
        [
            (json!(false), json!("no code of the program comes from here on")),
            (json!(true), Value::Null),
            (json!(false), json!("a part of the condition is missing")),
            (
                json!(false),
                json!(
                    "`often` is no hit count: a number, or one after `==`, `>`, `>=`, `<`, `<=` or `%`, is"
                )
            ),
        ]
    );
    assert_eq!(set[1]["line"], client.found.line("in twice"), "the next line with code");
    // Those that could not be set stop nowhere.
    let (visits, _) = both_ways(&mut client);
    assert!(visits.iter().all(|visit| visit.4 == json!([set[1]["id"]])), "{visits:?}");
    assert_eq!(visits.len(), 2);
}

#[test]
fn without_the_filter_a_failure_is_no_exception_and_is_the_end_all_the_same() {
    let mut client = Client::of("stepping/lines.c", Optimisation::O0);
    let info = client.adapter.succeed("exceptionInfo", &json!({"threadId": 1}));
    assert_eq!((&info["exceptionId"], &info["breakMode"]), (&json!("assertion"), &json!("always")));
    assert!(info["description"].as_str().is_some_and(|text| text.contains("shared == 2")), "{info}");
    client.adapter.succeed("setExceptionBreakpoints", &json!({"filters": ["preemption"]}));
    client.go("reverseContinue", 1);
    assert_eq!(client.stop["reason"], "preemption", "{}", client.stop);
    let info = client.adapter.succeed("exceptionInfo", &json!({"threadId": client.stop["threadId"]}));
    assert_eq!(info["exceptionId"], "preemption", "{info}");
    client.go("continue", 1);
    assert_eq!(
        (client.stop["reason"].as_str(), client.description()),
        (Some("step"), "the failure".to_owned())
    );
    let none = client.adapter.refused("exceptionInfo", &json!({"threadId": 1}));
    assert_eq!(none, "the session does not stand at a failure or a switch");
    let position = client.position();
    assert_eq!(position["step"], position["steps"]);
    client.adapter.succeed("restart", &Value::Null);
    client.stop = client.adapter.event("stopped");
    assert_eq!(client.description(), "the failure");
}
