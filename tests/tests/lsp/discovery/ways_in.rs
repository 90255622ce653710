//! Lenses where threads are created elsewhere, and results where none are.

use std::path::Path;

use serde_json::json;
use tests::editor::{Editor, uri};

use crate::findings::after_edits::run_build;
use crate::workspace::{Workspace, as_extension, line_of};

const POOL: &str = "\
#include <pthread.h>
#include \"pool.h\"
static void *run(void *job) { ((void (*)(void))job)(); return 0; }
void run_twice(void (*job)(void)) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, run, (void *)job);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
}
";

const COUNTS: &str = "\
#include <assert.h>
#include \"pool.h\"
static int visits;
static void visit(void) { int seen = visits; visits = seen + 1; }
int main(void) {
    run_twice(visit);
    assert(visits == 2);
    return 0;
}
";

/// A program whose threads are created in another file than `main`'s, built with these options.
fn with_helper(options: &str) -> Workspace {
    let workspace = Workspace::empty();
    workspace.put("pool.c", POOL);
    workspace.put("pool.h", "void run_twice(void (*job)(void));\n");
    workspace.put("counts.c", COUNTS);
    let rule = format!("counts: counts.c pool.c pool.h\n\tcc {options} -o $@ counts.c pool.c -pthread\n");
    workspace.put("Makefile", &rule);
    workspace
}

fn builder(workspace: &Workspace) -> Editor {
    workspace
        .editor_with(as_extension())
        .answering(|method, params| (method == "interleaver/build").then(|| run_build(params)))
}

fn why(editor: &mut Editor, source: &Path) -> String {
    let why = editor.execute("interleaver.server.whyNoLens", json!({ "uri": uri(source) }));
    why["sentence"].as_str().unwrap().to_owned()
}

#[test]
fn a_main_whose_threads_are_created_elsewhere_is_built_and_explored() {
    let workspace = with_helper("-g -O0");
    let source = workspace.file("counts.c");
    let mut editor = builder(&workspace);
    editor.open(&source);
    let lens = editor.lens(&source, "▶ Build, then explore interleavings");
    assert_eq!(why(&mut editor, &source), "no program has been built from `counts.c` yet: `make` builds it");
    assert_eq!(lens["range"]["start"]["line"], line_of(&source, "int main"));
    editor.click(&lens);
    let diagnostics = editor.wait_for_diagnostics(&source, |diagnostics| !diagnostics.is_empty());
    assert_eq!(diagnostics[0]["range"]["start"]["line"], line_of(&source, "assert(visits"));
    editor.wait_for_lens(&source, |title| title.starts_with("✗ 1 bug"));
    editor.end();
}

#[test]
fn a_program_without_line_numbers_says_so_where_its_main_is() {
    let workspace = with_helper("-O0");
    let source = workspace.file("counts.c");
    let mut editor = builder(&workspace);
    editor.open(&source);
    let lens = editor.lens(&source, "▶ Build, then explore interleavings");
    editor.click(&lens);
    let said = "`counts` has no line numbers for this file: rebuild with -g";
    let told = editor.wait_for_method("window/showMessage", |_| true);
    assert_eq!(told["message"], said);
    editor.wait_for_lens(&source, |title| title == format!("⚠ {said}"));
    assert_eq!(why(&mut editor, &source), said);
    editor.end();
}

#[test]
fn a_rust_main_whose_threads_are_created_in_a_module_is_built_and_explored() {
    let workspace = Workspace::empty();
    let manifest = "[package]\nname = \"ferry\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";
    workspace.put("Cargo.toml", manifest);
    let module = "\
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
static CARS: AtomicU32 = AtomicU32::new(0);
fn board() { let cars = CARS.load(SeqCst); CARS.store(cars + 1, SeqCst); }
pub fn both() -> u32 {
    let other = std::thread::spawn(board);
    board();
    other.join().unwrap();
    CARS.load(SeqCst)
}
";
    workspace.put("src/boarding.rs", module);
    let main =
        workspace.put("src/main.rs", "mod boarding;\nfn main() {\n    assert_eq!(boarding::both(), 2);\n}\n");
    let mut editor = builder(&workspace);
    editor.open(&main);
    let lens = editor.lens(&main, "▶ Build, then explore interleavings");
    editor.click(&lens);
    let diagnostics = editor.wait_for_diagnostics(&main, |diagnostics| !diagnostics.is_empty());
    assert_eq!(diagnostics[0]["range"]["start"]["line"], 2);
    editor.end();
}

#[test]
fn a_test_that_creates_no_threads_gets_no_tick() {
    let workspace = Workspace::empty();
    let text = "\
#include <gtest/gtest.h>
#include <thread>
static int passed;
TEST(Gate, LetsTwoThrough) {
    std::thread one([] { passed++; }), two([] { passed++; });
    one.join();
    two.join();
    EXPECT_EQ(passed, 2);
}
TEST(Gate, StaysShut) { EXPECT_EQ(passed, 0); }
";
    let source = workspace.put("gate.cpp", text);
    let mut compiler = std::process::Command::new("g++");
    compiler
        .args(["-g", "-pthread", "-o"])
        .arg(workspace.file("gate"))
        .arg(&source)
        .args(["-lgtest_main", "-lgtest"]);
    assert!(compiler.status().unwrap().success());
    let mut editor = workspace.editor_with(as_extension());
    editor.open(&source);
    let line = line_of(&source, "StaysShut");
    let lenses = editor.lenses(&source);
    let lens = lenses.iter().find(|lens| lens["range"]["start"]["line"] == line).unwrap().clone();
    editor.click(&lens);
    let said = "creates no threads: nothing to explore";
    editor.wait_for_lens(&source, |title| title == said);
    let here = editor.lenses(&source);
    let here: Vec<_> = here.iter().filter(|lens| lens["range"]["start"]["line"] == line).collect();
    assert_eq!(here.len(), 1, "{here:?}");
    let tree = editor.execute("interleaver.server.tree", json!({}));
    let target = crate::building::builds::row(&tree, "gate#Gate.StaysShut");
    assert_eq!((&target["state"], &target["status"]), (&json!("idle"), &json!(said)));
    editor.end();
}
