//! Small projects as their users have them: sources, a build, and nothing that belongs to this project.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use tempfile::TempDir;

use crate::build::BuildError;
use crate::paths::{self, Output};

/// A copy of one of the projects in `tests/workspaces`.
#[derive(Debug)]
pub struct Project {
    root: PathBuf,
    /// Removes the copy in the end, where it is not shared.
    _own: Option<TempDir>,
}

impl Project {
    /// A copy of its own, not built.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn copy(name: &str) -> Result<Self, BuildError> {
        let folder = tempfile::tempdir().map_err(at(Path::new(name)))?;
        let root = folder.path().canonicalize().map_err(at(folder.path()))?.join(name);
        copy(&source(name), &root)?;
        Ok(Self { root, _own: Some(folder) })
    }

    /// A copy that all tests share, brought up to date by `commands`, one after the other. No test may change it.
    ///
    /// # Errors
    /// When it cannot be written, or a command fails.
    pub fn shared(name: &str, commands: &[&str]) -> Result<Self, BuildError> {
        static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
        let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let output = Output::find().map_err(at(Path::new(name)))?;
        let folder = output.folder.join("workspaces");
        fs::create_dir_all(&folder).map_err(at(&folder))?;
        let root = folder.canonicalize().map_err(at(&folder))?.join(name);
        copy(&source(name), &root)?;
        // Its own checkout, as it would be on a developer's machine: the folder of cargo's output may lie inside ours.
        let repository = root.join(".git");
        fs::create_dir_all(&repository).map_err(at(&repository))?;
        let project = Self { root, _own: None };
        for command in commands {
            project.run(command)?;
        }
        Ok(project)
    }

    /// Its path, without symbolic links.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// A file of it.
    #[must_use]
    pub fn path(&self, file: &str) -> PathBuf {
        self.root.join(file)
    }

    /// Runs a shell's command at its root, and gives what it printed.
    ///
    /// # Errors
    /// When it fails, with what it printed.
    pub fn run(&self, command: &str) -> Result<String, BuildError> {
        let mut shell = Command::new("sh");
        // Cargo's variables about this test's own folders are nothing to another project.
        let inherited = std::env::vars_os().map(|(name, _)| name);
        for name in inherited.filter(|name| name.to_string_lossy().starts_with("CARGO")) {
            shell.env_remove(name);
        }
        let output = shell.args(["-c", command]).current_dir(&self.root).output().map_err(at(&self.root))?;
        if !output.status.success() {
            let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
            return Err(BuildError::Compiler { command: command.to_owned(), stderr });
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

fn source(name: &str) -> PathBuf {
    paths::workspace().join("tests/workspaces").join(name)
}

/// Copies what is different, so that a build sees what has changed.
fn copy(from: &Path, to: &Path) -> Result<(), BuildError> {
    fs::create_dir_all(to).map_err(at(to))?;
    for entry in fs::read_dir(from).map_err(at(from))? {
        let entry = entry.map_err(at(from))?;
        let (source, place) = (entry.path(), to.join(entry.file_name()));
        if source.is_dir() {
            copy(&source, &place)?;
            continue;
        }
        let new = fs::read(&source).map_err(at(&source))?;
        if fs::read(&place).is_ok_and(|old| old == new) {
            continue;
        }
        fs::write(&place, new).map_err(at(&place))?;
    }
    Ok(())
}

fn at(path: &Path) -> impl FnOnce(io::Error) -> BuildError {
    let path = path.to_owned();
    move |error| BuildError::Io { path, error }
}
