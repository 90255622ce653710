//! The answer to any input is an error or a sentence, and the server lives.

use std::fs;

use serde_json::{Value, json};
use tests::editor::{Editor, uri};

use crate::workspace::{Workspace, until_gone};

/// The server still answers.
fn lives(editor: &mut Editor) {
    let answer = editor.execute("interleaver.server.tree", json!({}));
    assert!(answer["targets"].is_array(), "{answer}");
}

#[test]
fn messages_that_are_none_are_refused() {
    let workspace = Workspace::empty();
    let mut editor = workspace.editor();
    let framed = |text: &str| format!("Content-Length: {}\r\n\r\n{text}", text.len()).into_bytes();
    for (bytes, code) in [
        (framed("{"), -32700),
        (framed("[1, 2"), -32700),
        (framed("\"text\""), -32600),
        (framed(r#"{"jsonrpc":"2.0","id":900,"method":"no/such"}"#), -32601),
        (framed(r#"{"jsonrpc":"2.0","id":901,"method":"textDocument/codeLens","params":{"x":1}}"#), -32602),
        (framed(r#"{"jsonrpc":"2.0","id":902,"method":"textDocument/codeLens","params":[7]}"#), -32602),
    ] {
        editor.send_bytes(&bytes);
        let answer = editor.wait_for_error();
        assert_eq!(answer["error"]["code"], code, "{}", String::from_utf8_lossy(&bytes));
        lives(&mut editor);
    }
    editor.end();
}

#[test]
fn requests_out_of_order_are_refused() {
    let workspace = Workspace::empty();
    let mut editor = Editor::in_process(workspace.path()).unwrap();
    let early =
        editor.try_request("textDocument/codeLens", json!({ "textDocument": { "uri": "file:///x.c" } }));
    assert_eq!(early["error"]["code"], -32002, "{early}");
    editor.begin(json!({}));
    let second = editor.try_request("initialize", json!({ "capabilities": {} }));
    assert!(second["error"].is_object(), "{second}");
    let missing = workspace.file("never_opened.c");
    editor.change(&missing, 7, "int main(void) { return 0; }");
    editor.notify("textDocument/didClose", json!({ "textDocument": { "uri": uri(&missing) } }));
    editor.notify("window/workDoneProgress/cancel", json!({ "token": "nobody's" }));
    lives(&mut editor);
    editor.end();
}

#[test]
fn commands_with_nonsense_are_sentences() {
    let workspace = Workspace::empty();
    let mut editor = workspace.editor();
    for (command, argument, words) in [
        ("interleaver.server.explore", json!({}), "say what to explore"),
        ("interleaver.server.explore", json!({ "target": "nobody" }), "`nobody` is not there any more"),
        ("interleaver.server.explore", json!({ "target": 7 }), "takes another argument"),
        ("interleaver.server.check", json!({ "finding": "../../etc/passwd" }), "there is no finding"),
        ("interleaver.server.dismiss", json!({ "finding": "x" }), "there is no finding"),
        ("interleaver.server.select", json!({}), "takes another argument"),
        ("interleaver.server.configuration", json!({ "target": "x" }), "is not there any more"),
        ("interleaver.server.fly", json!({}), "no command of this server"),
        ("rm -rf", json!(null), "no command of this server"),
    ] {
        let params = json!({ "command": command, "arguments": [argument] });
        let answer = editor.try_request("workspace/executeCommand", params);
        let message = answer["error"]["message"].as_str().unwrap_or_default();
        assert!(message.contains(words), "{command}: {answer}");
    }
    assert_eq!(
        editor.execute("interleaver.server.cancel", json!({ "job": 99 })),
        json!({ "cancelled": false })
    );
    lives(&mut editor);
    editor.end();
}

#[test]
fn options_that_are_not_understood_are_a_sentence() {
    let workspace = Workspace::empty();
    let mut editor = workspace.editor_with(json!({ "budget": "much" }));
    let told = editor.wait_for_method("window/showMessage", |_| true);
    assert!(
        told["message"].as_str().unwrap().starts_with("the client's options are not understood: "),
        "{told}"
    );
    lives(&mut editor);
    editor.end();
}

#[test]
fn files_that_are_nowhere_have_no_lenses() {
    let workspace = Workspace::empty();
    let mut editor = workspace.editor();
    for name in
        ["file:///no/such/file.c", "untitled:Untitled-1", "file:///", "git:/x.c?y", "file:///%FF%00.c"]
    {
        let document = json!({ "uri": name, "languageId": "c", "version": 1, "text": "int main(void) {}" });
        editor.notify("textDocument/didOpen", json!({ "textDocument": document }));
        let place = json!({ "textDocument": { "uri": name }, "position": { "line": 9, "character": 9 } });
        assert_eq!(editor.request("textDocument/hover", place), Value::Null);
        let lenses = editor.request("textDocument/codeLens", json!({ "textDocument": { "uri": name } }));
        assert_eq!(lenses, json!([]), "{name}");
    }
    lives(&mut editor);
    editor.end();
}

#[test]
fn a_file_of_10_000_lines_is_edited_from_end_to_end() {
    let workspace = Workspace::with(&["lost_update"]);
    let source = workspace.file("lost_update.c");
    let filler: String = (0..10_000).map(|line| format!("/* line {line} 🙂 */\n")).collect();
    let text = format!("{filler}{}", fs::read_to_string(&source).unwrap());
    fs::write(&source, &text).unwrap();
    workspace.compile("lost_update");
    let mut editor = workspace.editor();
    crate::exploring::explore(&mut editor, &source);
    let lines = text.lines().count();
    for version in 2..60 {
        let at = json!({ "line": (version * 163) % lines, "character": 8 });
        let change = json!({ "range": { "start": at, "end": at }, "text": "é\n" });
        editor.notify(
            "textDocument/didChange",
            json!({ "textDocument": { "uri": uri(&source), "version": version }, "contentChanges": [change] }),
        );
    }
    editor.change(&source, 100, &format!("// first\n{text}"));
    let failing = crate::workspace::line_of(&source, "assert(page_views");
    let is_there = |diagnostics: &[Value]| {
        diagnostics[0]["range"]["start"]["line"] == failing + 1 && diagnostics[0]["severity"] == 3
    };
    editor.wait_for_diagnostics(&source, is_there);
    editor.end();
}

#[test]
fn a_program_that_disappears_is_a_sentence() {
    let workspace = Workspace::with(&["lost_update"]);
    let source = workspace.file("lost_update.c");
    let mut editor = workspace.editor();
    editor.open(&source);
    let lens = editor.lens(&source, "▶ Explore");
    fs::remove_file(workspace.file("lost_update")).unwrap();
    let command = &lens["command"];
    let params = json!({ "command": command["command"], "arguments": command["arguments"] });
    let answer = editor.try_request("workspace/executeCommand", params);
    // It was looked for before the click, or because of it.
    let sentence = match answer["error"]["message"].as_str() {
        Some(sentence) => sentence.to_owned(),
        None => {
            editor.wait_for_method("window/showMessage", |_| true)["message"].as_str().unwrap().to_owned()
        }
    };
    assert!(sentence.contains("is not there any more"), "{sentence}");
    lives(&mut editor);
    editor.end();
}

#[test]
fn a_program_that_disappears_while_it_is_explored_does_no_harm() {
    let workspace = Workspace::copy_of("make-c");
    crate::exploring::build(&workspace);
    let source = workspace.file("src/crowd.c");
    let mut editor =
        workspace.editor_with(json!({ "budget": { "timeLimitSeconds": 1_000, "maxSchedules": 300 } }));
    editor.open(&source);
    let lens = editor.lens(&source, "▶ Explore");
    editor.click(&lens);
    editor.wait_for_lens(&source, |title| title.starts_with("● ") && title.contains(" schedules"));
    let program = workspace.file("build/crowd");
    fs::remove_file(&program).unwrap();
    editor.wait_for_lens(&source, |title| !title.starts_with('●') && title != "Cancel");
    until_gone(&program);
    lives(&mut editor);
    editor.end();
}
