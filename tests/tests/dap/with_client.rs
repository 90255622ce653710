//! A server whose schedule has a client: its steps are steps of the session, and the session moves both ways.

use serde_json::{Value, json};
use tests::{Adapter, Build, Found, Optimisation, workspace};

#[test]
fn steps_of_a_client_are_gone_back_over_and_come_again() {
    let asks = Build::new("client/asks.c", Optimisation::O2).program().unwrap();
    let client = format!("'{}' 2", asks.display());
    let found = Found::with("client/hand_over.c", Optimisation::O0, &["--client", &client]);
    let (mut adapter, stop) = Adapter::launched(&found.schedule, workspace());
    let ends = |stop: &Value| {
        stop["text"].as_str().is_some_and(|text| text.contains("the client waits for the program"))
    };
    assert!(ends(&stop), "{stop}");
    let steps = adapter.succeed("interleaver/position", &Value::Null)["steps"].as_u64().unwrap();
    let threads = adapter.succeed("threads", &Value::Null).to_string();
    assert!(threads.contains("the client"), "{threads}");
    let main = json!({"threadId": 1, "granularity": "instruction"});
    for step in (steps.saturating_sub(6)..steps).rev() {
        adapter.go("stepBack", &main);
        assert_eq!(adapter.succeed("interleaver/position", &Value::Null)["step"], step);
    }
    let again = adapter.go("continue", &main);
    assert!(ends(&again), "{again}");
}
