//! The lens of a result: it leads to what was found, and what was found stays while more is looked for.

use std::path::Path;

use serde_json::{Value, json};
use tests::editor::{Editor, title, uri};

use crate::exploring::explore;
use crate::workspace::{Workspace, as_extension, line_of};

/// Two threads that lose each other's updates, in more schedules than can be waited for.
const TALLY: &str = "\
#include <assert.h>
#include <pthread.h>
int tally, steps;
void *add(void *unused) {
    int seen = tally;
    tally = seen + 1;
    for (int i = 0; i < 5; i++)
        __atomic_fetch_add(&steps, 1, __ATOMIC_SEQ_CST);
    return unused;
}
int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, add, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    assert(tally == 2);
    return 0;
}
";

/// Number of schedules that a lens tells of.
fn schedules(title: &str) -> u64 {
    let part = title.split(" · ").find(|part| part.contains(" schedule")).unwrap();
    part.chars().filter(char::is_ascii_digit).collect::<String>().parse().unwrap()
}

fn lens_with<'a>(lenses: &'a [Value], words: &str) -> &'a Value {
    let found = lenses.iter().find(|lens| title(lens).contains(words));
    found.unwrap_or_else(|| panic!("a lens with `{words}`: {lenses:#?}"))
}

/// Waits until the failing line is opened.
fn is_opened(editor: &mut Editor, source: &Path, text: &str) {
    let opened = editor.wait_for_method("window/showDocument", |_| true);
    assert_eq!((&opened["uri"], &opened["takeFocus"]), (&json!(uri(source)), &json!(true)));
    assert_eq!(opened["selection"]["start"]["line"], line_of(source, text));
}

#[test]
fn a_result_leads_to_its_finding_and_starts_nothing() {
    let workspace = Workspace::with(&["lost_update"]);
    let source = workspace.file("lost_update.c");
    let mut editor = workspace.editor();
    explore(&mut editor, &source);
    let explored = crate::findings::stores::target(&workspace)["last"].clone();
    let result = editor.lens(&source, "✗ 1 bug");
    assert_eq!(editor.click(&result), Value::Null);
    is_opened(&mut editor, &source, "assert(page_views");
    let titles = editor.lens_titles(&source);
    assert_eq!(titles[1..], ["Check again", "Explore again", "Explore further"]);
    assert_eq!(crate::findings::stores::target(&workspace)["last"], explored);
    editor.end();

    let mut editor = workspace.editor_with(as_extension());
    editor.open(&source);
    let result = editor.lens(&source, "✗ 1 bug");
    assert_eq!(result["command"]["command"], "interleaver.showFinding");
    let tree = editor.execute("interleaver.server.tree", json!({}));
    let finding = &tree["targets"][0]["findings"][0]["id"];
    assert_eq!(result["command"]["arguments"][0], json!({ "target": "lost_update", "finding": finding }));
    editor.end();
}

#[test]
fn an_editor_that_opens_no_documents_is_told_where_it_fails() {
    let workspace = Workspace::with(&["lost_update"]);
    let source = workspace.file("lost_update.c");
    let mut editor = Editor::in_process(workspace.path()).unwrap();
    editor.begin_as(json!({}), json!({ "workspace": { "codeLens": { "refreshSupport": true } } }));
    explore(&mut editor, &source);
    let result = editor.lens(&source, "✗ 1 bug");
    editor.click(&result);
    let told = editor.wait_for_method("window/showMessage", |_| true);
    let place = format!("{}:{}: ", source.display(), line_of(&source, "assert(page_views") + 1);
    assert!(told["message"].as_str().unwrap().starts_with(&place), "{told}");
    editor.end();
}

#[test]
fn a_finding_stays_as_it_was_explained_while_more_is_looked_for() {
    let workspace = Workspace::empty();
    let source = workspace.put("tally.c", TALLY);
    workspace.compile("tally");
    let options = |time: u32| {
        let budget = json!({ "maxPreemptions": 9, "maxSchedules": 10_000_000, "timeLimitSeconds": time });
        let mut options = as_extension();
        options["budget"] = budget;
        options
    };
    let mut editor = workspace.editor_with(options(1));
    explore(&mut editor, &source);
    let explained = |diagnostics: &[Value]| {
        diagnostics.len() == 1 && diagnostics[0]["message"].as_str().unwrap().contains("\nlost update: ")
    };
    let before = editor.settled_diagnostics(&source, explained);
    assert_eq!(crate::findings::stores::target(&workspace)["last"]["findings"].as_array().unwrap().len(), 1);
    editor.end();

    let mut editor = workspace.editor_with(options(1_000));
    editor.open(&source);
    editor.settled_diagnostics(&source, explained);
    let again = editor.lens(&source, "Explore again");
    editor.click(&again);
    editor.wait_for_lens(&source, |title| title.starts_with("● ") && title.contains(" · 1 bug"));
    let lenses = editor.lenses(&source);
    let running = lens_with(&lenses, " · 1 bug");
    assert_eq!(running["command"]["command"], "interleaver.showFinding", "{running}");
    let replay = lens_with(&lenses, "Replay");
    let schedule = replay["command"]["arguments"][0]["schedule"].as_str().unwrap().to_owned();
    assert!(std::fs::metadata(&schedule).is_ok());
    let cancel = lens_with(&lenses, "Cancel").clone();
    let by_then = schedules(&title(running));
    editor.click(&cancel);
    // One count, with one meaning.
    let after = editor.wait_for_lens(&source, |title| title.starts_with("✗ 1 bug"));
    assert!(schedules(&after) >= by_then, "{by_then}, then {after}");
    assert_eq!(editor.diagnostics(&source), before);
    let was_lost = |told: &&Value| {
        let diagnostics = &told["params"]["diagnostics"];
        told["method"] == "textDocument/publishDiagnostics" && !explained(diagnostics.as_array().unwrap())
    };
    assert_eq!(editor.told.iter().find(was_lost), None);
    editor.end();
}

/// Main waits by a short sleep: it fails where the writer is kept from running for as long.
const NAP: &str = "\
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
atomic_int written;
void *write_it(void *unused) {
    atomic_store(&written, 1);
    return unused;
}
int main(void) {
    pthread_t writer;
    pthread_create(&writer, 0, write_it, 0);
    usleep(10000);
    assert(atomic_load(&written));
    pthread_join(writer, 0);
    return 0;
}
";

#[test]
fn what_needs_a_stall_is_a_warning_until_it_is_gone() {
    let workspace = Workspace::empty();
    let source = workspace.put("nap.c", NAP);
    workspace.compile("nap");
    let mut editor = workspace.editor();
    editor.open(&source);
    let lens = editor.lenses(&source)[0].clone();
    editor.click(&lens);
    editor.wait_for_lens(&source, |title| title.starts_with("⚠ fails only if a thread is stalled · "));
    let only_if = "\nonly if T2 is stalled for 10ms while T1 sleeps";
    let is_told = |diagnostics: &[Value]| {
        diagnostics.len() == 1 && diagnostics[0]["message"].as_str().unwrap().contains(only_if)
    };
    let diagnostics = editor.settled_diagnostics(&source, is_told);
    assert_eq!(diagnostics[0]["severity"], 2, "{diagnostics:?}");
    // Without the sleep it fails as any other.
    let without = NAP.replace("usleep(10000)", "usleep(0)");
    workspace.put("nap.c", &without);
    editor.change(&source, 2, &without);
    workspace.compile("nap");
    let again = editor.lens(&source, "Explore again");
    editor.click(&again);
    editor.wait_for_lens(&source, |title| title.starts_with("✗ 1 bug"));
    let is_error = |diagnostics: &[Value]| diagnostics.iter().any(|one| one["severity"] == 1);
    editor.settled_diagnostics(&source, is_error);
    editor.end();
}
