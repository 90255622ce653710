//! The README shows what its reader will see.

use std::fs;
use std::process::Command;

use tempfile::tempdir;
use tests::{Tool, workspace};

#[test]
fn the_demo_prints_what_the_readme_shows() {
    let readme = fs::read_to_string(workspace().join("README.md")).unwrap();
    let shown = readme.split("```").find(|block| block.trim_start().starts_with("Found:")).unwrap();
    let folder = tempdir().unwrap();
    let program = folder.path().join("lost_update");
    // As `demo` compiles it.
    let mut compiler = Command::new("gcc");
    compiler.args(["-g", "-O0", "-pthread", "tests/targets/c/lost_update.c", "-o"]).arg(&program);
    assert!(compiler.current_dir(workspace()).status().unwrap().success());
    let explore = Tool::new(["explore", "--explain-time", "1h", "--output"])
        .and([folder.path().as_os_str(), "--".as_ref()]);
    let outcome = explore.and([&program]).run().unwrap();
    assert!(outcome.stdout.contains(shown.trim_start()), "{}", outcome.transcript());
}
