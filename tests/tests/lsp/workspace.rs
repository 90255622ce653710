//! A workspace in a folder of its own, with programs that are really built.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use tests::editor::{Editor, until};
use tests::{running, targets};

/// A folder with a `.git` in it.
pub(crate) struct Workspace(tempfile::TempDir);

impl Workspace {
    pub(crate) fn empty() -> Self {
        let workspace = Self(tempfile::tempdir().unwrap());
        fs::create_dir(workspace.path().join(".git")).unwrap();
        workspace
    }

    /// With bundled programs, each built beside its source.
    pub(crate) fn with(programs: &[&str]) -> Self {
        let workspace = Self::empty();
        for program in programs {
            workspace.put_bundled(&format!("c/{program}.c"));
            workspace.compile(program);
        }
        workspace
    }

    /// A copy of one of the bundled workspaces, as if it had been written a minute ago.
    pub(crate) fn copy_of(name: &str) -> Self {
        let workspace = Self::empty();
        let from = targets().with_file_name("workspaces").join(name);
        copy(&from, workspace.path());
        workspace
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    /// Copies a bundled source, under its last name.
    pub(crate) fn put_bundled(&self, source: &str) -> PathBuf {
        let place = self.file(source.rsplit('/').next().unwrap());
        fs::copy(targets().join(source), &place).unwrap();
        make_older(&place);
        place
    }

    /// Writes a file, and dates it back a minute: what is built now is newer.
    pub(crate) fn put(&self, name: &str, text: &str) -> PathBuf {
        let place = self.file(name);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::write(&place, text).unwrap();
        make_older(&place);
        place
    }

    pub(crate) fn compile(&self, program: &str) {
        let source = self.file(&format!("{program}.c"));
        let mut gcc = Command::new("gcc");
        gcc.args(["-g", "-O0", "-pthread", "-o"]).arg(self.file(program)).arg(source);
        assert!(gcc.status().unwrap().success());
    }

    /// An editor that has it open.
    pub(crate) fn editor(&self) -> Editor {
        self.editor_with(json!({}))
    }

    pub(crate) fn editor_with(&self, options: Value) -> Editor {
        let mut editor = Editor::in_process(self.path()).unwrap();
        editor.begin(options);
        editor
    }
}

/// The capabilities that the extension for VS Code announces.
pub(crate) fn as_extension() -> Value {
    json!({
        "clientCommands": [
            "interleaver.replay", "interleaver.pickProgram", "interleaver.whyNoLens",
            "interleaver.openConfiguration", "interleaver.copySchedule", "interleaver.showFinding",
        ],
        "runsBuilds": true,
        "trusted": true,
    })
}

/// The line with a text in it, from 0.
pub(crate) fn line_of(file: &Path, text: &str) -> usize {
    fs::read_to_string(file).unwrap().lines().position(|line| line.contains(text)).unwrap()
}

/// Waits until nothing runs a program any more.
pub(crate) fn until_gone(program: &Path) {
    until(&format!("no process runs {}", program.display()), || running(program).is_empty());
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let place = to.join(entry.file_name());
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            copy(&entry.path(), &place);
        } else if kind.is_symlink() {
            symlink(fs::read_link(entry.path()).unwrap(), place).unwrap();
        } else {
            fs::copy(entry.path(), &place).unwrap();
            make_older(&place);
        }
    }
}

fn make_older(file: &Path) {
    let then = SystemTime::now() - Duration::from_secs(60);
    fs::File::options().write(true).open(file).unwrap().set_modified(then).unwrap();
}
