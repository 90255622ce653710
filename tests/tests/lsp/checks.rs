//! The messages of "Check again" in the cases that are not that simple.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tests::Tool;
use tests::editor::{Editor, until, uri};

use crate::exploring::explore;
use crate::workspace::{Workspace, as_extension};

/// The counts of two pairs of threads may come out wrong, one after the other.
const TWO_BUGS: &str = "\
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
int first, second;
void *one(void *unused) { int seen = first; first = seen + 1; return unused; }
void *other(void *unused) { int seen = second; second = seen + 1; return unused; }
static void two(void *(*body)(void *)) {
    pthread_t a, b;
    pthread_create(&a, 0, body, 0);
    pthread_create(&b, 0, body, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
}
int main(void) {
    two(one);
    assert(first == 2);
    two(other);
    assert(second == 2);
    return 0;
}
";

/// The message about a program `m` after a click on "Check again" for the finding in a line.
fn check(editor: &mut Editor, line: usize) -> String {
    let finding = finding(editor, line);
    editor.execute("interleaver.server.check", json!({ "finding": finding["id"] }));
    let told = editor.wait_for_method("window/showMessage", |_| true);
    told["message"].as_str().unwrap().to_owned()
}

/// The finding whose failing line is this one, from 1.
fn finding(editor: &mut Editor, line: usize) -> Value {
    let tree = editor.execute("interleaver.server.tree", json!({}));
    let findings = tree["targets"][0]["findings"].as_array().unwrap();
    let found = findings.iter().find(|finding| finding["line"] == line - 1);
    found.unwrap_or_else(|| panic!("{findings:#?}")).clone()
}

/// Writes a text over the source, as an editor does, and builds it.
fn edit(editor: &mut Editor, workspace: &Workspace, source: &Path, text: &str) {
    workspace.put("m.c", text);
    workspace.compile("m");
    editor.change(source, 2, text);
    editor.notify("textDocument/didSave", json!({ "textDocument": { "uri": uri(source) } }));
}

fn replaced(text: &str, old: &str, new: &str) -> String {
    let edited = text.replace(old, new);
    assert_ne!(edited, text);
    edited
}

#[test]
fn one_of_two_bugs_is_fixed_once_the_other_cannot_hide_it() {
    let workspace = Workspace::empty();
    let source = workspace.put("m.c", TWO_BUGS);
    workspace.compile("m");
    let mut editor = workspace.editor_with(as_extension());
    let found = explore(&mut editor, &source);
    assert_eq!(found["targets"][0]["findings"].as_array().unwrap().len(), 2);

    let one_fixed =
        replaced(TWO_BUGS, "int seen = first; first = seen + 1;", "__atomic_fetch_add(&first, 1, 5);");
    edit(&mut editor, &workspace, &source, &one_fixed);
    let said = check(&mut editor, 16);
    assert!(
        said.starts_with("m: inconclusive: the program fails in another way, which may hide this"),
        "{said}"
    );
    assert!(said.ends_with("Assertion `second == 2' failed."), "{said}");
    assert_eq!(finding(&mut editor, 16)["fixed"], Value::Null);

    let both =
        replaced(&one_fixed, "int seen = second; second = seen + 1;", "__atomic_fetch_add(&second, 1, 5);");
    edit(&mut editor, &workspace, &source, &both);
    let said = check(&mut editor, 18);
    assert!(said.starts_with("m: fixed: no failure up to 2 preemptions · "), "{said}");
    for line in [16, 18] {
        assert!(finding(&mut editor, line)["fixed"].is_u64(), "{line}");
    }
    editor.end();
}

#[test]
fn a_program_that_never_comes_to_the_failing_line_is_not_fixed() {
    let workspace = Workspace::empty();
    let source = workspace.put("m.c", TWO_BUGS);
    workspace.compile("m");
    let mut editor = workspace.editor_with(as_extension());
    explore(&mut editor, &source);
    let aborts = replaced(TWO_BUGS, "    two(one);", "    abort();");
    edit(&mut editor, &workspace, &source, &aborts);
    let said = check(&mut editor, 16);
    assert!(said.starts_with("m: inconclusive: the program fails in another way, which may hide"), "{said}");
    assert_eq!(finding(&mut editor, 16)["fixed"], Value::Null);
    editor.end();
}

/// A linker removes the program before it writes it again, and the folder may be looked at in between.
#[test]
fn a_program_that_was_gone_for_a_while_is_looked_for_again() {
    let workspace = Workspace::empty();
    let source = workspace.put("m.c", TWO_BUGS);
    workspace.compile("m");
    let mut editor = workspace.editor_with(as_extension());
    let found = explore(&mut editor, &source);
    let target = found["targets"][0]["id"].clone();
    let (program, elsewhere) = (workspace.file("m"), workspace.file(".git/m"));
    fs::rename(&program, &elsewhere).unwrap();
    assert_eq!(check(&mut editor, 16), "`m` is not there any more: build it again");
    fs::rename(&elsewhere, &program).unwrap();
    assert_eq!(check(&mut editor, 16), "m: still fails");

    fs::rename(&program, &elsewhere).unwrap();
    assert_eq!(check(&mut editor, 16), "`m` is not there any more: build it again");
    fs::rename(&elsewhere, &program).unwrap();
    let again = editor.execute("interleaver.server.explore", json!({ "target": target }));
    assert!(again["job"].is_u64(), "{again}");
    editor.end();
}

/// Writes the configuration, and says so as a client does.
fn configure(editor: &mut Editor, workspace: &Workspace, text: &str) {
    let file = workspace.put("interleaver.toml", text);
    let changed = json!({ "uri": uri(&file), "type": 1 });
    editor.notify("workspace/didChangeWatchedFiles", json!({ "changes": [changed] }));
}

/// A letter is posted before it is written.
const POSTED: &str = "\
#include <assert.h>
#include <pthread.h>
int posted, letter;
void *write_letter(void *unused) { posted = 1; letter = 5; return unused; }
void *read_letter(void *unused) {
    assert(letter == 5);
    return unused;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, write_letter, 0);
    pthread_create(&b, 0, read_letter, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
";

#[test]
fn half_a_fix_that_takes_a_preemption_to_fail_is_no_fix() {
    let workspace = Workspace::empty();
    let source = workspace.put("m.c", POSTED);
    workspace.compile("m");
    let mut editor = workspace.editor_with(as_extension());
    explore(&mut editor, &source);
    assert_eq!(finding(&mut editor, 6)["preemptions"], 0);

    let half = replaced(POSTED, "    assert(", "    if (!posted) return unused;\n    assert(");
    edit(&mut editor, &workspace, &source, &half);
    assert_eq!(check(&mut editor, 7), "m: still fails");
    assert_eq!(finding(&mut editor, 7)["preemptions"], 1);

    let whole = replaced(&half, "posted = 1; letter = 5;", "letter = 5; posted = 1;");
    edit(&mut editor, &workspace, &source, &whole);
    let said = check(&mut editor, 7);
    assert!(said.starts_with("m: fixed: no failure up to 2 preemptions · "), "{said}");
    editor.end();
}

#[test]
fn half_a_fix_in_the_line_that_fails_is_no_fix_either() {
    let workspace = Workspace::empty();
    let source = workspace.put("m.c", POSTED);
    workspace.compile("m");
    let mut editor = workspace.editor_with(as_extension());
    explore(&mut editor, &source);
    let half = replaced(POSTED, "    assert(", "    if (posted) assert(");
    edit(&mut editor, &workspace, &source, &half);
    let said = check(&mut editor, 6);
    assert!(said.starts_with("m: inconclusive: the program fails in another way, which may hide"), "{said}");
    assert_eq!(finding(&mut editor, 6)["fixed"], Value::Null);
    editor.end();
}

#[test]
fn a_shorter_exploration_by_the_command_line_shows_nothing_fixed() {
    let workspace = Workspace::empty();
    let source = workspace.put("m.c", POSTED);
    workspace.compile("m");
    let mut editor = workspace.editor_with(as_extension());
    explore(&mut editor, &source);
    let half = replaced(POSTED, "    assert(", "    if (!posted) return unused;\n    assert(");
    edit(&mut editor, &workspace, &source, &half);
    let words = ["explore", "--strategy", "icb", "--max-preemptions", "0", "--"].map(OsStr::new);
    let program = workspace.file("m");
    let explored = Tool::new(words.into_iter().chain([program.as_os_str()]))
        .within_folder(workspace.path())
        .run()
        .unwrap();
    assert_eq!(explored.code, 0, "{}", explored.transcript());
    let words = "not seen up to 0 preemptions: inconclusive, it is to be looked for up to 2 preemptions";
    until("the run is seen", || finding(&mut editor, 7)["checked"] == words);
    assert_eq!(finding(&mut editor, 7)["fixed"], Value::Null);
    editor.lens(&source, "✗ 1 bug");
    editor.end();
}

#[test]
fn what_was_found_by_going_further_is_looked_for_as_far() {
    let workspace = Workspace::empty();
    let source = workspace.put("m.c", POSTED);
    workspace.compile("m");
    let mut editor = workspace.editor_with(as_extension());
    explore(&mut editor, &source);
    let further = editor.lens(&source, "Explore further");
    editor.click(&further);
    editor.wait_for_method("interleaver/status", |status| status["running"] == 0);
    let fixed = replaced(POSTED, "assert(letter == 5)", "assert(letter < 6)");
    edit(&mut editor, &workspace, &source, &fixed);
    let said = check(&mut editor, 6);
    assert!(said.starts_with("m: fixed: no failure up to 3 preemptions · "), "{said}");
    editor.end();
}

/// So many key points that few schedules cover no preemption.
const MANY_STEPS: &str =
    "__atomic_fetch_add(&first, 1, 5); for (int i = 0; i < 30; i++) second += 0 * first;";

#[test]
fn a_check_that_ends_early_repeats_no_older_answer() {
    let workspace = Workspace::empty();
    let source = workspace.put("m.c", TWO_BUGS);
    workspace.compile("m");
    workspace.put("interleaver.toml", "max-schedules = 60\n");
    let mut editor = workspace.editor_with(as_extension());
    explore(&mut editor, &source);
    assert_eq!(check(&mut editor, 16), "m: still fails");
    let long = replaced(TWO_BUGS, "int seen = first; first = seen + 1;", MANY_STEPS);
    edit(&mut editor, &workspace, &source, &long);
    assert_eq!(check(&mut editor, 16), "m: not seen up to 0 preemptions: inconclusive, it ran 60 schedules");
    editor.end();
}

#[test]
fn a_finding_is_looked_for_with_the_arguments_that_it_was_found_with() {
    let workspace = Workspace::empty();
    let text = TWO_BUGS.replace(
        "int main(void) {",
        "int main(int count, char **words) { if (count < 2) return 0; (void)words;",
    );
    let source = workspace.put("m.c", &text);
    workspace.compile("m");
    workspace.put("interleaver.toml", "[[target]]\nprogram = \"m\"\nargs = [\"1\"]\n");
    let mut editor = workspace.editor_with(as_extension());
    explore(&mut editor, &source);
    configure(&mut editor, &workspace, "");
    assert_eq!(check(&mut editor, 16), "m: still fails");
    editor.end();
}

#[test]
fn a_program_that_lacked_its_arguments_is_fixed_once_they_are_set() {
    let workspace = Workspace::empty();
    let text = replaced(
        TWO_BUGS,
        "int main(void) {",
        "int main(int count, char **words) {\n    (void)words;\n    if (count < 2)\n        return 2;",
    );
    let text = replaced(&text, "int seen = first; first = seen + 1;", "__atomic_fetch_add(&first, 1, 5);");
    let text = replaced(&text, "int seen = second; second = seen + 1;", "__atomic_fetch_add(&second, 1, 5);");
    let source = workspace.put("m.c", &text);
    workspace.compile("m");
    let mut editor = workspace.editor_with(as_extension());
    let found = explore(&mut editor, &source);
    assert_eq!(found["targets"][0]["findings"][0]["kind"], "always-fails", "{found:#}");
    // The client's part in the use of the lens.
    let lens = editor.lens(&source, "Set arguments…");
    let argument = lens["command"]["arguments"][0].clone();
    let place = editor.execute("interleaver.server.configuration", argument);
    let configured = place["text"].as_str().unwrap();
    assert_eq!(configured.lines().nth(place["line"].as_u64().unwrap() as usize), Some("args = []"));
    configure(&mut editor, &workspace, &configured.replace("args = []", "args = [\"1\"]"));
    let line = text.lines().position(|line| line.contains("return 2;")).unwrap() + 1;
    let said = check(&mut editor, line);
    assert!(said.starts_with("m: fixed: no failure up to 2 preemptions · "), "{said}");
    assert!(finding(&mut editor, line)["fixed"].is_u64());
    editor.end();
}

#[test]
fn a_run_that_cannot_start_is_said_and_does_not_spoil_the_next_check() {
    let workspace = Workspace::empty();
    let source = workspace.put("m.c", TWO_BUGS);
    workspace.compile("m");
    let mut editor = workspace.editor_with(as_extension());
    explore(&mut editor, &source);
    configure(&mut editor, &workspace, "[[target]]\nprogram = \"m\"\nstdin = \"gone.txt\"\n");
    editor.execute("interleaver.server.explore", json!({ "target": "m" }));
    let said = editor.wait_for_lens(&source, |title| title.starts_with('⚠'));
    assert!(said.contains("gone.txt"), "{said}");
    // The finding was found without it.
    assert_eq!(check(&mut editor, 16), "m: still fails");
    assert!(!editor.lens_titles(&source).iter().any(|title| title.starts_with('⚠')));
    editor.end();
}
