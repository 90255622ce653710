//! Programs that are executed while the tool looks at a hostile repository: all are seen, and before trust it is the
//! tool alone.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use tests::editor::{Editor, uri};
use tests::{Adapter, Build, Optimisation, Outcome, Tool, binary};

use crate::repository::{PLANTED, Surroundings};

/// Starts commands by a program that notes whatever they execute, and their descendants: see `executions.c`.
struct Watch {
    program: PathBuf,
    log: PathBuf,
}

impl Watch {
    fn new(top: &Surroundings) -> Self {
        let program = Build::new("hostile/executions.c", Optimisation::O0).program().unwrap();
        // Beside what is compared afterwards.
        Self { program, log: top.path("state/executions") }
    }

    fn run(&self, tool: Tool) -> Outcome {
        tool.under(self.program.clone(), [&self.log]).run().unwrap()
    }

    /// The programs that were executed since the last time, the first of which is the command itself: else nothing was
    /// watched.
    fn seen(&self, command: &Path) -> BTreeSet<PathBuf> {
        let log = fs::read_to_string(&self.log).unwrap_or_default();
        let _ = fs::remove_file(&self.log);
        let seen: Vec<PathBuf> = log.split_terminator('\0').map(PathBuf::from).collect();
        assert_eq!(seen.first(), Some(&command.canonicalize().unwrap()), "executions cannot be watched here");
        seen.into_iter().collect()
    }

    /// Fails where something else was executed than the tool, and these.
    fn only(&self, others: &[PathBuf], when: &dyn std::fmt::Debug) {
        let tool = binary().unwrap();
        let mut seen = self.seen(tool);
        // The language server runs explorations and `doctor`, which are the tool.
        seen.remove(&tool.canonicalize().unwrap());
        let others: BTreeSet<PathBuf> = others.iter().cloned().collect();
        assert_eq!(seen, others, "{when:?}");
    }

    fn editor(&self, top: &Surroundings) -> Editor {
        let log = self.log.to_str().unwrap();
        Editor::spawned_under(&self.program, &[log], &top.repository()).unwrap()
    }

    fn adapter(&self) -> Adapter {
        let mut adapter = Adapter::start_under(&self.program, &[self.log.as_os_str()]).unwrap();
        adapter.succeed("initialize", &json!({"adapterID": "interleaver"}));
        adapter
    }
}

/// Shuts a server down, and waits for its end.
fn end(mut editor: Editor) {
    editor.request("shutdown", Value::Null);
    editor.notify("exit", Value::Null);
    editor.process().unwrap().wait().unwrap();
}

#[test]
fn a_planted_execution_is_seen_however_it_is_started() {
    let top = Surroundings::new();
    let watch = Watch::new(&top);
    let marker = top.path("repository/marker");
    top.link("repository/link", &marker);
    let shell = Path::new("/bin/sh");
    for (nth, words) in ["./marker", "exec ./link", "(cd ..; repository/marker & wait)", "env ./marker"]
        .into_iter()
        .enumerate()
    {
        let mut command = Command::new(&watch.program);
        command.arg(&watch.log).arg(shell).args(["-c", words]).current_dir(top.repository());
        let output = command.output().unwrap();
        assert!(output.status.success(), "{words}: {}", String::from_utf8_lossy(&output.stderr));
        let seen = watch.seen(shell);
        assert!(seen.contains(&marker), "{words}: {seen:?}");
        assert_eq!(top.marks(), nth + 1, "{words}");
    }
}

/// The tool itself starts it: the target's own filters and the tracer do not hide it.
#[test]
fn what_a_target_executes_is_seen() {
    let top = Surroundings::new();
    let watch = Watch::new(&top);
    let marker = top.path("repository/marker");
    let source = format!(
        "#include <unistd.h>\n#include <sys/wait.h>\n#include <pthread.h>\n\
         static void *f(void *p) {{ if (fork() == 0) {{ execl({marker:?}, \"m\", (char *)0); _exit(1); }} wait(0); return p; }}\n\
         int main(void) {{ pthread_t t; pthread_create(&t, 0, f, 0); pthread_join(t, 0); return 0; }}\n"
    );
    top.put("repository/starts.c", source);
    top.compile(&["-o", "repository/starts", "repository/starts.c"]);
    let words = ["explore", "--no-explain", "--max-schedules", "2", "--output", "out", "--", "./starts"];
    let outcome = watch.run(top.tool(words));
    watch.only(&[top.path("repository/starts"), marker], &outcome.transcript());
}

#[test]
fn before_trust_no_verb_executes_anything_but_the_tool() {
    let top = Surroundings::hostile();
    let watch = Watch::new(&top);
    let before = top.seen();
    let mut lines: Vec<Vec<PathBuf>> = [
        &["list", "."][..],
        &["list", "--format", "json", "."],
        &["list", "sub"],
        &["list", ".interleaver"],
        &["doctor"],
        &["--version"],
        &["explore", "--help"],
    ]
    .map(|words| words.iter().map(PathBuf::from).collect())
    .into();
    for schedule in top.schedules() {
        for verb in ["replay", "minimise"] {
            lines.push(vec![verb.into(), schedule.clone()]);
        }
    }
    for finding in ["linked", "named", "absolute", "above"] {
        let finding = top.path(&format!("repository/{PLANTED}/findings/{finding}.json"));
        lines.push(vec!["replay".into(), finding.clone()]);
        lines.push(vec!["minimise".into(), finding]);
    }
    for line in lines {
        watch.run(top.tool(&line));
        watch.only(&[], &line);
    }
    // This one is asked for; what would slip in with it is not.
    let outcome = watch.run(top.explore(".interleaver/app"));
    assert_eq!(outcome.code, 1, "{}", outcome.transcript());
    watch.only(&[top.path("repository/app")], &"explore");
    assert_eq!((top.marks(), top.seen() == before), (0, true));
}

#[test]
fn with_consent_the_program_of_a_schedule_is_executed() {
    let top = Surroundings::new();
    let watch = Watch::new(&top);
    let marker = top.path("repository/marker");
    let schedule = top.plant_schedule("named", &marker, &[], &json!({}));
    watch.run(top.tool(["replay".as_ref(), "--trust".as_ref(), schedule.as_os_str()]));
    watch.only(&[marker], &"replay --trust");
}

/// Asks for everything that a file shows and that a person can click at.
fn everything(editor: &mut Editor, source: &Path) {
    editor.open(source);
    editor.lenses(source);
    let document = json!({ "uri": uri(source) });
    let range = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 99, "character": 0 } });
    let position = json!({ "line": 2, "character": 0 });
    for (method, params) in [
        ("textDocument/inlayHint", json!({ "textDocument": document, "range": range })),
        ("textDocument/hover", json!({ "textDocument": document, "position": position })),
        (
            "textDocument/codeAction",
            json!({ "textDocument": document, "range": range, "context": { "diagnostics": [] } }),
        ),
    ] {
        editor.request(method, params);
    }
    let tree = editor.execute("interleaver.server.tree", json!({}));
    for target in tree["targets"].as_array().into_iter().flatten() {
        for (command, argument) in [
            ("explore", json!({ "target": target["id"] })),
            ("configuration", json!({ "target": target["id"] })),
            ("cancel", json!({ "target": target["id"] })),
        ] {
            run(editor, command, &argument);
        }
        for finding in target["findings"].as_array().into_iter().flatten() {
            for command in ["select", "check", "minimise"] {
                run(editor, command, &json!({ "finding": finding["id"] }));
            }
        }
    }
    for (command, argument) in [
        ("explore", json!({ "uri": uri(source), "name": "main" })),
        ("whyNoLens", json!({ "uri": uri(source), "line": 1 })),
        ("programs", json!({ "uri": uri(source) })),
    ] {
        run(editor, command, &argument);
    }
}

/// Runs a command, which may be refused.
fn run(editor: &mut Editor, command: &str, argument: &Value) {
    let command = format!("interleaver.server.{command}");
    editor.try_request("workspace/executeCommand", json!({ "command": command, "arguments": [argument] }));
}

#[test]
fn before_trust_the_language_server_executes_nothing_but_the_tool() {
    let top = Surroundings::hostile();
    let watch = Watch::new(&top);
    let before = top.seen();
    let mut editor = watch.editor(&top);
    editor.begin(json!({ "trusted": false, "clientCommands": ["interleaver.replay"] }));
    for source in ["app.c", "interleaver.toml", "Cargo.toml", ".cargo/config.toml"] {
        everything(&mut editor, &top.path(&format!("repository/{source}")));
    }
    end(editor);
    watch.only(&[], &"lsp");
    assert_eq!((top.marks(), top.seen() == before), (0, true));
}

#[test]
fn with_trust_the_language_server_executes_the_program_that_is_explored_and_no_build_unasked() {
    let top = Surroundings::hostile();
    let watch = Watch::new(&top);
    let source = top.path("repository/app.c");
    let mut editor = watch.editor(&top);
    editor.begin(json!({ "trusted": true }));
    editor.open(&source);
    let lens = editor.lens(&source, "▶ Explore");
    editor.click(&lens);
    editor.wait_for_lens(&source, |title| title.starts_with("✗"));
    // A build is shown, and has not been consented to.
    fs::write(&source, fs::read(&source).unwrap()).unwrap();
    editor.notify("textDocument/didSave", json!({ "textDocument": { "uri": uri(&source) } }));
    run(&mut editor, "explore", &json!({ "uri": uri(&source), "name": "main" }));
    editor.wait_for_method("window/showMessageRequest", |_| true);
    end(editor);
    // It loads what CTest's file has it load: the workspace is trusted with that.
    watch.only(&[top.path("repository/app")], &"lsp");
}

#[test]
fn the_debug_adapter_executes_nothing_of_a_stranger() {
    let top = Surroundings::hostile();
    let watch = Watch::new(&top);
    let before = top.seen();
    for schedule in top.schedules() {
        for folder in [top.repository(), top.path("mine")] {
            let mut adapter = watch.adapter();
            let launch = json!({"schedule": schedule, "folder": folder});
            let refusal = adapter.refused("launch", &launch);
            assert!(refusal.contains("was not saved on this machine by you"), "{refusal}");
            adapter.close();
            watch.only(&[], &schedule);
        }
    }
    assert_eq!((top.marks(), top.seen() == before), (0, true));
    // With trust it is executed, so it would have been seen.
    let mut adapter = watch.adapter();
    let launch = json!({"schedule": top.schedules()[0], "folder": top.repository(), "trusted": true});
    adapter.request("launch", &launch);
    adapter.close();
    watch.only(&[top.path("repository/marker")], &"launch with trust");
}
