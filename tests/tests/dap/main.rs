//! The debug adapter, driven as a client drives it: the real binary over its standard streams.

mod bad_input;
mod both_ways;
mod breakpoints;
mod client;
mod explored;
mod lines;
mod looks;
mod passes;
mod prints;
mod returns;
mod starts;
mod with_client;

use serde_json::{Value, json};
use tests::{Adapter, Found, Optimisation, running, workspace};

fn lost_update() -> Found {
    Found::in_target("c/lost_update.c", Optimisation::O0)
}

/// The first frame of the user's own code: function and line.
fn top(adapter: &mut Adapter, thread: &Value) -> (String, u64) {
    let body = adapter.succeed("stackTrace", &json!({"threadId": thread}));
    let frames = body["stackFrames"].as_array().cloned().unwrap_or_default();
    let own = frames.iter().find(|frame| frame["presentationHint"].is_null());
    let own = own.unwrap_or_else(|| panic!("no frame of the user's own code: {body}"));
    (own["name"].as_str().unwrap_or_default().to_owned(), own["line"].as_u64().unwrap_or_default())
}

#[test]
fn a_session_starts_at_the_failure_and_steps_by_key_point_both_ways() {
    let found = lost_update();
    let (mut adapter, stop) = Adapter::launched(&found.schedule, workspace());
    assert_eq!(stop["reason"], "exception", "{stop}");
    assert_eq!(stop["allThreadsStopped"], true, "{stop}");
    assert!(stop["text"].as_str().is_some_and(|text| text.contains("page_views == 2")), "{stop}");
    assert_eq!(top(&mut adapter, &stop["threadId"]), ("main".to_owned(), found.line("FAILS HERE")));

    let position = adapter.succeed("interleaver/position", &Value::Null);
    let steps = position["steps"].as_u64().unwrap();
    assert_eq!(position["step"], steps, "{position}");

    let by_event = |thread: &Value| json!({"threadId": thread, "granularity": "instruction"});
    let mut stops = vec![stop];
    for step in (0..steps).rev() {
        let thread = stops.last().unwrap()["threadId"].clone();
        stops.push(adapter.go("stepBack", &by_event(&thread)));
        assert_eq!(adapter.succeed("interleaver/position", &Value::Null)["step"], step);
    }
    let start = stops.last().unwrap()["threadId"].clone();
    // Before the start there is nothing.
    let stop = adapter.go("stepBack", &by_event(&start));
    assert_eq!(stop["description"], "the start", "{stop}");
    assert_eq!(adapter.succeed("threads", &Value::Null)["threads"].as_array().map(Vec::len), Some(1));

    // From the first line to the first key point.
    adapter.go("next", &by_event(&start));
    assert_eq!(adapter.succeed("interleaver/position", &Value::Null)["step"], 0);

    let mut lines = Vec::new();
    for step in 1..=steps {
        let stop = adapter.go("next", &by_event(&start));
        assert_eq!(adapter.succeed("interleaver/position", &Value::Null)["step"], step);
        let alive = adapter.succeed("threads", &Value::Null).to_string();
        if alive.contains(&format!("\"id\":{}", stop["threadId"])) {
            lines.push((stop["threadId"].as_u64().unwrap(), top(&mut adapter, &stop["threadId"]).1));
        }
    }
    // Both handlers read before either writes.
    let increment = found.line("page_views++;");
    let readers: Vec<u64> =
        lines.iter().filter(|(_, line)| *line == increment).map(|(thread, _)| *thread).collect();
    assert!(readers.contains(&2) && readers.contains(&3), "{lines:?}");
    // Past the failure neither.
    let stop = adapter.go("next", &by_event(&start));
    assert_eq!((&stop["reason"], &stop["description"]), (&json!("exception"), &json!("the failure")));
    adapter.succeed("disconnect", &Value::Null);
    adapter.wait();
    assert_eq!(running(&found.program), [] as [i32; 0]);
}
