//! Messages of editors, whole streams of them: the servers answer what they can, and end when the stream does.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use serde_json::{Value, json};
use tests::editor::uri;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::change::{Change, changed, changes};
use super::runs::run;

fn framed(message: &[u8]) -> Vec<u8> {
    [format!("Content-Length: {}\r\n\r\n", message.len()).as_bytes(), message].concat()
}

/// A stream of which one message is damaged, or all of it as a whole.
fn stream(messages: &[Value], which: Option<prop::sample::Index>, changes: &[Change]) -> Vec<u8> {
    let texts: Vec<String> = messages.iter().map(Value::to_string).collect();
    let Some(which) = which else {
        let whole = texts.iter().flat_map(|text| framed(text.as_bytes())).collect::<Vec<u8>>();
        return changed(&whole, 0..whole.len(), changes);
    };
    let damaged = which.index(texts.len());
    let one = |(nth, text): (usize, &String)| match nth == damaged {
        true => framed(&changed(text.as_bytes(), 0..text.len(), changes)),
        false => framed(text.as_bytes()),
    };
    texts.iter().enumerate().flat_map(one).collect()
}

fn to_language_server(folder: &Path) -> Vec<Value> {
    let document = json!({ "uri": uri(&folder.join("a.c")) });
    let at = json!({ "textDocument": document, "position": { "line": 1, "character": 2 } });
    let range = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 3, "character": 0 } });
    let command = |name: &str, argument: Value| {
        let params = json!({ "command": format!("interleaver.server.{name}"), "arguments": [argument] });
        ("workspace/executeCommand", params)
    };
    let hello = json!({
        "processId": null,
        "workspaceFolders": [{ "uri": uri(folder), "name": "w" }],
        "capabilities": { "workspace": { "codeLens": { "refreshSupport": true } } },
        "initializationOptions": { "trusted": false, "clientCommands": ["interleaver.replay"] },
    });
    let text = "int main(void)\n{\n}\n";
    let opened = json!({ "uri": document["uri"], "languageId": "c", "version": 1, "text": text });
    let edit = json!({ "range": range, "text": "é\u{1f600}" });
    let edited =
        json!({ "textDocument": { "uri": document["uri"], "version": 2 }, "contentChanges": [edit] });
    let requests = [
        ("initialize", hello),
        ("textDocument/codeLens", json!({ "textDocument": document })),
        ("textDocument/inlayHint", json!({ "textDocument": document, "range": range })),
        ("textDocument/hover", at.clone()),
        ("textDocument/completion", at),
        (
            "textDocument/codeAction",
            json!({ "textDocument": document, "range": range, "context": { "diagnostics": [] } }),
        ),
        command("tree", json!({})),
        command("dismiss", json!({ "finding": "x" })),
        command("show", json!({ "finding": "x" })),
        command("restore", json!({ "target": "x" })),
        command("explore", json!({ "target": "x", "uri": document["uri"] })),
        command("whyNoLens", json!({ "uri": document["uri"], "line": 1 })),
    ];
    let notifications = [
        ("initialized", json!({})),
        ("textDocument/didOpen", json!({ "textDocument": opened })),
        ("textDocument/didChange", edited),
        ("workspace/didChangeConfiguration", json!({ "settings": { "interleaver": { "trusted": false } } })),
        ("textDocument/didClose", json!({ "textDocument": document })),
    ];
    let mut messages: Vec<Value> = (1..)
        .zip(requests)
        .map(|(id, (method, params))| json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
        .collect();
    for (nth, (method, params)) in notifications.into_iter().enumerate() {
        messages.insert(2 * nth + 1, json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }
    messages
}

#[test]
fn messages_to_the_language_server() {
    let folder = tempfile::tempdir().unwrap();
    let messages = to_language_server(folder.path());
    let inputs = (any::<Option<prop::sample::Index>>(), changes());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    run("messages to the language server", 100, &inputs, |(which, changes)| {
        let bytes = stream(&messages[1..], which, &changes);
        // It is not started by what is sent here.
        let tool = PathBuf::from("/nowhere");
        let (mut ours, theirs) = tokio::io::duplex(1 << 16);
        let (input, output) = tokio::io::split(theirs);
        let client = async {
            let hello = framed(messages[0].to_string().as_bytes());
            let mut answer = [0; 1];
            ours.write_all(&hello).await.unwrap();
            // Messages that come before the answer are refused.
            ours.read_exact(&mut answer).await.unwrap();
            let (mut from, mut to) = tokio::io::split(ours);
            let say = async {
                // A server that was told to exit does not read on.
                let _ = to.write_all(&bytes).await;
                let _ = to.shutdown().await;
            };
            let mut nowhere = tokio::io::sink();
            tokio::join!(say, tokio::io::copy(&mut from, &mut nowhere)).1.unwrap();
        };
        runtime.block_on(async { tokio::join!(lsp::serve_over(input, output, tool), client) });
    });
}

/// The schedule of a program that is not there: its recorded steps are what a session shows.
const SCHEDULE: &str = r#"{
  "format": "interleaver-schedule", "version": 1, "tool": "0.1.0",
  "target": {
    "program": {"absolute": "/nowhere/program"}, "build_id": "00", "arguments": [], "directory": {"absolute": "/"},
    "fresh_directory": false, "environment": {}, "ignore_exit_code": false, "step_limit": 1000, "run_timeout_ms": 1000
  },
  "found_by": {"strategy": "icb", "seed": 0, "schedule_number": 1, "epoch": 0, "key_points": {"instructions": [], "memory": []}},
  "failure": {"kind": "deadlock", "message": "deadlock", "at": [], "preemptions": 0, "fewest": true, "delays": 0},
  "choices": [
    {"thread":"main","operation":"create","at":"main, a.c:3","site":"0x1"},
    {"thread":"main/1","operation":"lock","object":"m","at":"f, a.c:1","site":"0x2"},
    {"thread":"main","operation":"join","at":"main, a.c:4","site":"0x3"}
  ]
}"#;

fn to_debug_adapter(schedule: &Path) -> Vec<Value> {
    let source = json!({ "path": "/nowhere/a.c" });
    let requests = [
        ("initialize", json!({ "adapterID": "interleaver" })),
        ("launch", json!({ "schedule": schedule, "folder": "/" })),
        (
            "setBreakpoints",
            json!({ "source": source, "breakpoints": [{ "line": 3, "condition": "x == 1" }] }),
        ),
        ("configurationDone", json!({})),
        ("threads", json!({})),
        ("stackTrace", json!({ "threadId": 1, "startFrame": 0, "levels": 20 })),
        ("scopes", json!({ "frameId": 1 })),
        ("variables", json!({ "variablesReference": 1, "start": 0, "count": 10 })),
        ("stepBack", json!({ "threadId": 1, "granularity": "instruction" })),
        ("next", json!({ "threadId": 1 })),
        ("reverseContinue", json!({ "threadId": 1 })),
        ("continue", json!({ "threadId": 1 })),
        ("evaluate", json!({ "expression": "a[3].b->c", "frameId": 1, "context": "hover" })),
        ("source", json!({ "sourceReference": 1 })),
        ("exceptionInfo", json!({ "threadId": 1 })),
        ("disconnect", json!({})),
    ];
    let numbered = (1..).zip(requests);
    numbered
        .map(|(seq, (command, arguments))| json!({ "seq": seq, "type": "request", "command": command, "arguments": arguments }))
        .collect()
}

#[test]
fn messages_to_the_debug_adapter() {
    let folder = tempfile::tempdir().unwrap();
    let schedule = folder.path().join("schedule.json");
    fs::write(&schedule, SCHEDULE).unwrap();
    let messages = to_debug_adapter(&schedule);
    let inputs = (any::<Option<prop::sample::Index>>(), changes());
    run("messages to the debug adapter", 150, &inputs, |(which, changes)| {
        let bytes = stream(&messages, which, &changes);
        dap::serve_over(io::Cursor::new(bytes), io::sink());
    });
}
