//! Target programs, compiled into a folder of the test.

use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// The program of `source`, which is below `tests/targets`; `flags` come on top of those of its language. Each list of
/// flags makes a program of its own.
pub(crate) fn compile(folder: &TempDir, source: &str, flags: &[&str]) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/targets").join(source);
    let (compiler, common): (_, &[&str]) = match source.extension().and_then(|end| end.to_str()) {
        Some("c") => ("gcc", &["-g", "-pthread"]),
        Some("cpp") => ("g++", &["-g", "-pthread", "-std=c++20"]),
        Some("rs") => ("rustc", &["-g", "--edition=2024"]),
        other => panic!("no compiler is known for {other:?}"),
    };
    let name = format!("{}{}", source.file_stem().unwrap().display(), flags.concat());
    let program = folder.path().join(name.replace('/', "_"));
    let mut command = Command::new(compiler);
    let made = command.args(common).args(flags).arg(source).arg("-o").arg(&program).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    program
}
