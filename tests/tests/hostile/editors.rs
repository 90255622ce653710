//! The language server over a hostile repository, trusted and not.

use std::fs;

use serde_json::{Value, json};
use tests::editor::{Editor, uri};

use crate::repository::Surroundings;

/// Asks for everything that can be shown, and dismisses every finding.
fn show_and_dismiss(top: &Surroundings, trusted: bool) {
    let mut editor = Editor::spawned(&top.repository()).unwrap();
    editor.begin(json!({ "trusted": trusted, "clientCommands": ["interleaver.replay"] }));
    let source = top.path("repository/app.c");
    editor.open(&source);
    editor.lenses(&source);
    let document = json!({ "uri": uri(&source) });
    let range = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 99, "character": 0 } });
    editor.request("textDocument/inlayHint", json!({ "textDocument": document, "range": range }));
    editor.request(
        "textDocument/hover",
        json!({ "textDocument": document, "position": { "line": 2, "character": 0 } }),
    );
    let tree = editor.execute("interleaver.server.tree", json!({}));
    let shown = format!("{tree}{}", json!(editor.diagnostics(&source)));
    assert!(shown.contains(r"\\x1b[31m") && !shown.contains(r"\u001b"), "{shown}");
    let targets = tree["targets"].as_array().cloned().unwrap_or_default();
    let findings: Vec<Value> = targets
        .iter()
        .flat_map(|target| target["findings"].as_array().cloned().unwrap_or_default())
        .collect();
    // Those that name what lies elsewhere are none.
    let ids: Vec<&str> = findings.iter().filter_map(|finding| finding["id"].as_str()).collect();
    assert!(ids.iter().all(|id| id.ends_with("/linked") || id.ends_with("/named")), "{ids:?}");
    for id in ["absolute", "above", "linked", "named"] {
        let id = top.path(&format!("repository/{}/{id}", crate::repository::PLANTED));
        let words = json!({ "command": "interleaver.server.dismiss", "arguments": [{ "finding": id }] });
        // The lock of this store leads elsewhere.
        let answer = editor.try_request("workspace/executeCommand", words);
        assert!(answer.get("error").is_some(), "{answer}");
    }
    editor.end();
}

#[test]
fn findings_that_came_along_do_no_harm() {
    for trusted in [false, true] {
        let top = Surroundings::hostile();
        let before = top.seen();
        show_and_dismiss(&top, trusted);
        assert_eq!((top.marks(), top.seen() == before), (0, true), "trusted: {trusted}");
        // If there is a lock, findings can be dismissed, and take nothing with them that lies elsewhere.
        fs::remove_file(top.path(&format!("repository/{}/.lock", crate::repository::PLANTED))).unwrap();
        let mut editor = Editor::spawned(&top.repository()).unwrap();
        editor.begin(json!({ "trusted": trusted }));
        for id in ["linked", "named"] {
            let id = top.path(&format!("repository/{}/{id}", crate::repository::PLANTED));
            let words = json!({ "command": "interleaver.server.dismiss", "arguments": [{ "finding": id }] });
            let _ = editor.try_request("workspace/executeCommand", words);
        }
        editor.end();
        assert_eq!((top.marks(), top.seen() == before), (0, true), "trusted: {trusted}");
    }
}

#[test]
fn the_server_ends_with_its_input_whatever_waits() {
    let top = Surroundings::new();
    let mut editor = Editor::spawned(&top.repository()).unwrap();
    let folder = json!([{ "uri": uri(&top.repository()), "name": "w" }]);
    let hello = json!({ "processId": null, "workspaceFolders": folder, "capabilities": {} });
    editor.request("initialize", hello);
    // Nothing was looked at yet: the client has not said that it is ready.
    let document = json!({ "uri": uri(&top.path("repository/app.c")) });
    let nested = format!("{}{}", "[".repeat(5000), "]".repeat(5000));
    let hint =
        json!({ "jsonrpc": "2.0", "id": 7, "method": "textDocument/inlayHint", "params": { "range": 0 } });
    let hint = hint.to_string().replace(":0}", &format!(":{nested}}}"));
    editor.send_bytes(format!("Content-Length: {}\r\n\r\n{hint}", hint.len()).as_bytes());
    editor.ask("textDocument/codeLens", json!({ "textDocument": document }));
    let mut server = editor.hang_up();
    assert!(server.wait().unwrap().success());
}
