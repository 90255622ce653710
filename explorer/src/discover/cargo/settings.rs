//! Settings in `.cargo/config.toml`s and cargo's own variables, as far as they matter to where programs lie and what they
//! are given.

use std::collections::BTreeSet;
use std::env;
use std::path::{Path, PathBuf};

use files::Kind;
use ptrace_backend::attention;
use toml::{Table, Value};

/// The tables of cargo's configuration files above a folder, the nearest first, then that of the user's home; each with the
/// folder that its relative paths start in.
pub(super) fn tables(folder: &Path) -> impl Iterator<Item = (PathBuf, Table)> {
    let above = folder.ancestors().map(|folder| folder.join(".cargo"));
    above.chain(cargo_home()).filter_map(|folder| {
        let files = ["config.toml", "config"].map(|name| folder.join(name));
        let text = files.iter().find_map(|file| files::read_text(file, Kind::Settings).ok())?;
        Some((folder.parent()?.to_owned(), text.parse().ok()?))
    })
}

/// The folders that cargo builds in: the name in `[build]` of its configuration, and the variables that count before that.
/// Files that are not meant for users, test binaries among them, go to the second one.
const FOLDERS: [(&str, &[&str]); 2] = [
    ("target-dir", &["CARGO_TARGET_DIR", "CARGO_BUILD_TARGET_DIR"]),
    ("build-dir", &["CARGO_BUILD_BUILD_DIR"]),
];

/// The folders that cargo builds in for these packages, apart from the `target` of each: those of its variables in the
/// environment of this process, else those of the nearest configuration file.
pub(in crate::discover) fn target_folders<'a>(
    packages: impl Iterator<Item = &'a Path>,
    root: &'a Path,
) -> BTreeSet<PathBuf> {
    let packages: Vec<&Path> = packages.collect();
    if packages.is_empty() {
        return BTreeSet::new();
    }
    let mut folders = BTreeSet::new();
    for (name, variables) in FOLDERS {
        let said = variables.iter().find_map(env::var_os).filter(|folder| !folder.is_empty());
        match said {
            Some(said) => {
                let places = packages.iter().copied().chain([root]);
                // A value that is no text has no words in braces.
                let folder =
                    |place| said.to_str().map_or_else(|| (&said).into(), |said| expanded(said, place));
                folders.extend(places.map(|place: &Path| place.join(folder(place))));
            }
            None => folders.extend(packages.iter().filter_map(|package| configured(package, name))),
        }
    }
    folders.into_iter().filter_map(|folder| folder.canonicalize().ok()).collect()
}

/// A folder in `[build]`.
fn configured(package: &Path, name: &str) -> Option<PathBuf> {
    tables(package).find_map(|(folder, table)| {
        attention::look_now();
        let said = table.get("build").and_then(|build| build.get(name)).and_then(Value::as_str)?;
        Some(folder.join(expanded(said, package)))
    })
}

/// A folder with what cargo puts in place of words in braces. The hash of the workspace is cargo's own affair: the folder that
/// holds those of all workspaces stands for it.
fn expanded(said: &str, package: &Path) -> PathBuf {
    let said = match said.split_once("{workspace-path-hash}") {
        Some((before, _)) => before.rsplit_once('/').map_or("", |(folder, _)| folder),
        None => said,
    };
    let home = cargo_home().unwrap_or_default();
    let said = said.replace("{workspace-root}", &workspace_root(package).to_string_lossy());
    said.replace("{cargo-cache-home}", &home.to_string_lossy()).into()
}

/// The nearest folder from a package on whose manifest has a workspace, else that of the package.
fn workspace_root(package: &Path) -> &Path {
    let has_workspace = |folder: &&Path| {
        attention::look_now();
        let manifest = files::read_text(&folder.join("Cargo.toml"), Kind::Settings).ok();
        manifest
            .and_then(|text| text.parse().ok())
            .is_some_and(|table: Table| table.contains_key("workspace"))
    };
    package.ancestors().find(has_workspace).unwrap_or(package)
}

fn cargo_home() -> Option<PathBuf> {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    home.or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".cargo")))
}
