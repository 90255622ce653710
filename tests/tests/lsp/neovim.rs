//! Another editor than the one that the extension is for: Debian's Neovim, with the client that it brings along.

use std::process::Command;

use serde_json::{Value, json};
use tests::binary;

use crate::workspace::{Workspace, line_of};

const SCRIPT: &str = "tests/tests/lsp/neovim.lua";

#[test]
fn neovim_shows_lenses_runs_one_and_gets_the_diagnostic() {
    let workspace = Workspace::with(&["lost_update"]);
    let source = workspace.file("lost_update.c");
    let mut editor = Command::new("timeout");
    editor.args(["120", "nvim", "--headless", "--clean", "-n", "-c"]).arg(format!("luafile {SCRIPT}"));
    editor.env("SERVER", binary().unwrap()).env("WORKSPACE", workspace.path()).env("SOURCE", &source);
    let output = editor.current_dir(tests::workspace()).output().unwrap();
    let (said, told) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}{told}");
    let seen: Value = serde_json::from_str(&said).unwrap_or_else(|error| panic!("{error}: {said}{told}"));
    let main = line_of(&source, "int main");
    assert_eq!(seen["before"], json!([{ "line": main, "title": "▶ Explore interleavings" }]));
    let [diagnostic] = seen["diagnostics"].as_array().unwrap().as_slice() else { panic!("{seen}") };
    assert_eq!(diagnostic["line"], line_of(&source, "assert(page_views"));
    assert_eq!((&diagnostic["severity"], &diagnostic["source"]), (&json!(1), &json!("interleaver")));
    let message = diagnostic["message"].as_str().unwrap();
    assert!(message.contains("page_views"), "{message}");
    let after = seen["after"].as_array().unwrap();
    assert!(after.iter().all(|lens| lens["line"] == main), "{seen}");
    let titles: Vec<&str> = after.iter().map(|lens| lens["title"].as_str().unwrap()).collect();
    let [result, rest @ ..] = titles.as_slice() else { panic!("{seen}") };
    assert!(result.starts_with("✗ 1 bug · 1 preemption · ") && result.ends_with(" schedules"), "{result}");
    assert_eq!(rest, ["Check again", "Explore again", "Explore further"]);
}
