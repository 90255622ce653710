//! Executions of many events: what reports and schedule files hold of them.

use std::ffi::OsStr;
use std::fs;

use serde_json::{Value, json};
use tests::{Build, Optimisation, Tool};

/// The events of an execution of `limits/long.c`.
const EVENTS: u64 = 10_404;

fn listed(finding: &Value) -> u64 {
    finding["events"].as_array().unwrap().len() as u64
}

#[test]
fn a_long_execution_is_listed_in_part_and_saved_in_little() {
    let program = Build::new("limits/long.c", Optimisation::O0).flag("-DROUNDS=2600").program().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let outcome = Tool::explore([OsStr::new("--output"), folder.path().as_os_str()], &program).run().unwrap();
    let at = &outcome.stderr;
    assert_eq!(outcome.code, 1, "{at}");
    let finding = outcome.finding();
    let left_out = &finding["left_out"];
    assert_eq!(left_out["from"], json!(500), "{at}");
    assert_eq!(listed(finding) + left_out["events"].as_u64().unwrap(), EVENTS, "{at}");
    assert!(listed(finding) < 6_010, "{at}");
    let file = folder.path().join(finding["schedule_file"].as_str().unwrap());
    let text = fs::read_to_string(&file).unwrap();
    let saved: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(saved["version"], json!(2), "{at}");
    assert_eq!(saved["sequence"].as_array().unwrap().len() as u64, EVENTS, "{at}");
    assert!(text.len() as u64 <= 6 * EVENTS, "{} bytes: {at}", text.len());
    let replay = ["replay".as_ref(), "--format".as_ref(), "json".as_ref(), file.as_os_str()];
    let replayed = Tool::new(replay).run().unwrap();
    assert_eq!(replayed.code, 1, "{}", replayed.stderr);
    for member in ["kind", "line", "events", "left_out"] {
        assert_eq!(replayed.finding()[member], finding[member], "{member}: {at}");
    }
}
