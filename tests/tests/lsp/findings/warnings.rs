//! Potential deadlocks are warnings, for as long as the text is the one that was explored.

use std::fs;

use serde_json::{Value, json};
use tests::editor::uri;

use crate::workspace::{Workspace, line_of};

#[test]
fn a_potential_deadlock_is_a_warning_until_the_text_is_edited() {
    let workspace = Workspace::with(&["lock_order"]);
    // With no preemption neither transfer is left between its locks.
    workspace.put("interleaver.toml", "strategy = \"icb\"\nmax-preemptions = 0\n");
    let source = workspace.file("lock_order.c");
    let mut editor = workspace.editor();
    editor.open(&source);
    let lens = editor.lens(&source, "▶ Explore");
    editor.click(&lens);
    let diagnostics = editor.settled_diagnostics(&source, |diagnostics| !diagnostics.is_empty());
    let [warning] = diagnostics.as_slice() else { panic!("{diagnostics:#?}") };
    assert_eq!((&warning["severity"], &warning["code"]), (&json!(2), &json!("potential-deadlock")));
    let inner = line_of(&source, "lock(&to->lock)");
    assert_eq!(warning["range"]["start"]["line"], inner);
    let message = warning["message"].as_str().unwrap();
    assert!(
        message.starts_with("potential deadlock: T2 locks `savings.lock` before `current.lock`"),
        "{message}"
    );
    let related = |nth: usize| -> (&Value, &Value) {
        let related = &warning["relatedInformation"][nth];
        assert_eq!(related["location"]["uri"], json!(uri(&source)));
        (&related["location"]["range"]["start"]["line"], &related["message"])
    };
    assert_eq!(related(0), (&json!(inner - 1), &json!("T2 locks `savings.lock`")));
    assert_eq!(related(1), (&json!(inner), &json!("T3 then locks `savings.lock`")));
    assert_eq!(related(2), (&json!(inner - 1), &json!("T3 locks `current.lock`")));
    // It changes nothing else.
    editor.wait_for_lens(&source, |title| title.starts_with("✓ no failure up to 0 preemptions"));
    let text = fs::read_to_string(&source).unwrap();
    editor.change(&source, 2, &format!("\n{text}"));
    editor.settled_diagnostics(&source, <[Value]>::is_empty);
    editor.end();
}
