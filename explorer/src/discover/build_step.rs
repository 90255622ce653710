//! The build step of a program, found out from the files around it.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::presets::{self, Build, ChosenPreset};
use crate::shell;

/// A command that builds something.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct BuildStep {
    /// For a shell.
    pub command: String,
    /// The folder in which it is run.
    pub directory: PathBuf,
    /// Whether the program is older than one of its sources, or is not there.
    pub needed: bool,
}

/// Finds the command that builds a file (a source or a program) from the files around it, up to `root`, with the folder to
/// run it in. `cmake_folders` are those that CMake was run in.
pub(super) fn detect(file: &Path, root: &Path, cmake_folders: &[PathBuf]) -> Option<(String, PathBuf)> {
    let inside = |folder: &&Path| folder.starts_with(root);
    let above = || file.ancestors().skip(1).take_while(inside);
    // A file in a folder that CMake was run in is built there.
    if let Some(folder) = above().find(|folder| cmake_folders.iter().any(|known| known == folder)) {
        return Some((format!("cmake --build {}", shell_word(folder, root)), root.to_owned()));
    }
    for folder in above() {
        let has = |name: &str| folder.join(name).is_file();
        if has("Cargo.toml") {
            return Some((cargo(file.strip_prefix(folder).unwrap_or(file)).to_owned(), folder.to_owned()));
        }
        if has("CMakeLists.txt") {
            // The outermost one is the project's.
            let top = above().filter(|folder| folder.join("CMakeLists.txt").is_file()).last()?;
            return Some((cmake(top, cmake_folders), top.to_owned()));
        }
        if has("build.ninja") {
            return Some(("ninja".to_owned(), folder.to_owned()));
        }
        if has("Makefile") || has("makefile") || has("GNUmakefile") {
            return Some(("make".to_owned(), folder.to_owned()));
        }
        if has("meson.build") && folder.join("build").is_dir() {
            return Some(("meson compile -C build".to_owned(), folder.to_owned()));
        }
    }
    None
}

/// The command for a file of a package: `cargo test` alone builds no program that has a test harness in its place.
fn cargo(file: &Path) -> &'static str {
    match () {
        () if file == "src/main.rs" || file.starts_with("src/bin") => "cargo build && cargo test --no-run",
        () if file.starts_with("examples") => "cargo build --examples",
        () => "cargo test --no-run",
    }
}

fn cmake(top: &Path, cmake_folders: &[PathBuf]) -> String {
    let configured = cmake_folders.iter().filter(|folder| folder.starts_with(top));
    match configured.max_by_key(|folder| folder.metadata().and_then(|folder| folder.modified()).ok()) {
        Some(folder) => format!("cmake --build {}", shell_word(folder, top)),
        None => presets::chosen(top).map_or_else(
            || "cmake -B build -DCMAKE_BUILD_TYPE=Debug && cmake --build build".to_owned(),
            |chosen| preset(&chosen, top),
        ),
    }
}

fn preset(ChosenPreset { configure, build }: &ChosenPreset, top: &Path) -> String {
    let build = match build {
        Build::Preset(name) => format!("--preset {}", shell::word(name)),
        Build::Folder(folder) => shell_word(Path::new(folder), top),
    };
    format!("cmake --preset {} && cmake --build {build}", shell::word(configure))
}

/// A path as a shell takes it, relative where that is shorter.
fn shell_word(path: &Path, from: &Path) -> String {
    let path = match path.strip_prefix(from) {
        Ok(inside) if inside.as_os_str().is_empty() => Path::new("."),
        Ok(inside) => inside,
        Err(_) => path,
    };
    shell::word(&path.to_string_lossy()).into_owned()
}
