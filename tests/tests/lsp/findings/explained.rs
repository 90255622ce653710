//! The explanation of a finding, as an editor shows it.

use std::fs;
use std::path::Path;

use serde_json::Value;
use tests::editor::Editor;

use crate::exploring::explore;
use crate::workspace::{Workspace, line_of};

/// The only diagnostic of a file, once it has been explained.
fn diagnostic(editor: &mut Editor, source: &Path) -> Value {
    let is_explained =
        |found: &Value| found["message"].as_str().is_some_and(|message| message.contains('\n'));
    let found = editor.settled_diagnostics(source, |found| found.iter().any(is_explained));
    let [one] = found.as_slice() else { panic!("{found:#?}") };
    one.clone()
}

/// The related places of a diagnostic: each line, from 0, and what is said about it.
fn related(diagnostic: &Value) -> Vec<(usize, &str)> {
    let related = diagnostic["relatedInformation"].as_array().unwrap();
    let line = |place: &Value| place["location"]["range"]["start"]["line"].as_u64().unwrap() as usize;
    related.iter().map(|place| (line(place), place["message"].as_str().unwrap())).collect()
}

#[test]
fn the_order_that_decides_and_the_accesses_to_blame_come_first() {
    let workspace = Workspace::with(&["lost_update"]);
    // All of it, however slow the machine.
    workspace.put("interleaver.toml", "explain-time = \"1h\"\n");
    let source = workspace.file("lost_update.c");
    let mut editor = workspace.editor();
    explore(&mut editor, &source);
    let found = diagnostic(&mut editor, &source);
    let (update, join) = (line_of(&source, "    page_views++;"), line_of(&source, "pthread_join(first"));
    assert_eq!(
        related(&found),
        [
            (update, "it fails where this comes first: T3 reads `page_views`"),
            (update, "it passes where this comes first: T2 writes `page_views`"),
            (
                update,
                "pattern 1/3 (in 2 of 2 failing schedules, and in 0 of 2 that pass): T3 reads `page_views`"
            ),
            (update, "pattern 2/3: T2 writes `page_views`"),
            (update, "pattern 3/3: T3 writes `page_views`"),
            (update, "2/4 T2 reads `page_views`"),
            (update, "3/4 T3 writes `page_views`"),
            (join, "4/4 T1 joins T2"),
        ]
    );
    editor.end();
}

#[test]
fn a_deadlock_names_what_its_threads_wait_for_as_well() {
    let workspace = Workspace::with(&["lock_order"]);
    workspace.put("interleaver.toml", "explain-time = \"1h\"\n");
    let source = workspace.file("lock_order.c");
    let mut editor = workspace.editor();
    explore(&mut editor, &source);
    let found = diagnostic(&mut editor, &source);
    assert_eq!(found["code"], "deadlock");
    let [from, to, end] =
        ["lock(&from->lock", "lock(&to->lock", "pthread_join(rent"].map(|text| line_of(&source, text));
    assert_eq!(
        related(&found),
        [
            (from, "it fails where this comes first: T2 locks `savings.lock`"),
            (to, "it passes where T3 gets here first, which waits for mutex `savings.lock`, held by T2"),
            (from, "1/3 T3 locks `current.lock`"),
            (from, "2/3 T2 locks `savings.lock`"),
            (end, "3/3 T1 waits for the end of T2"),
        ]
    );
    editor.end();
}

#[test]
fn a_use_after_free_names_who_freed_and_who_allocated_as_well() {
    let workspace = Workspace::with(&["use_after_free"]);
    workspace.put("interleaver.toml", "explain-time = \"1h\"\n");
    let source = workspace.file("use_after_free.c");
    let mut editor = workspace.editor();
    explore(&mut editor, &source);
    let found = diagnostic(&mut editor, &source);
    assert_eq!(found["code"], "use-after-free");
    let texts =
        ["->status = 200", "last_number = request", "pthread_cond_wait", "free(request)", "= malloc("];
    let [written, used, waits, freed, allocated] = texts.map(|text| line_of(&source, text));
    assert_eq!(found["range"]["start"]["line"], used);
    assert_eq!(
        related(&found),
        [
            (freed, "it fails where this comes first: T1 frees `request`"),
            (used, "it passes where this comes first: T2 reads `request.number`"),
            (written, "1/5 T2 writes `request.status`"),
            (waits, "2/5 T1 locks again `lock`"),
            (used, "3/5 T2 reads `request.number`"),
            (freed, "4/5 T1 freed it"),
            (allocated, "5/5 T1 allocated it"),
        ]
    );
    editor.end();
}

#[test]
fn what_an_older_finding_does_not_know_is_not_shown() {
    let workspace = Workspace::with(&["lost_update"]);
    let source = workspace.file("lost_update.c");
    let mut editor = workspace.editor();
    let tree = explore(&mut editor, &source);
    editor.end();
    let id = Path::new(tree["targets"][0]["findings"][0]["id"].as_str().unwrap());
    let file = id.with_file_name("findings").join(id.file_name().unwrap()).with_extension("json");
    let mut kept: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    let why = kept["finding"]["explanation"].as_object_mut().unwrap();
    why.retain(|name, _| ["switches", "depth", "executions"].contains(&name.as_str()));
    fs::write(&file, kept.to_string()).unwrap();
    let mut editor = workspace.editor();
    let found = editor.wait_for_diagnostics(&source, |found| found.len() == 1);
    let told: Vec<&str> = related(&found[0]).into_iter().map(|(_, told)| told).collect();
    assert_eq!(
        told,
        [
            "1/4 T3 reads `page_views`",
            "2/4 T2 reads `page_views`",
            "3/4 T3 writes `page_views`",
            "4/4 T1 joins T2"
        ]
    );
    assert!(!found[0]["message"].as_str().unwrap().contains('\n'), "{found:#?}");
    editor.end();
}
