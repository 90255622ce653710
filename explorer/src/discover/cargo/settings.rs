//! What `.cargo/config.toml`s and cargo's own variables say, as far as it matters where programs lie and what they are given.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

/// The tables of cargo's configuration files above a folder, the nearest first, then that of the user's home; each with the
/// folder that its relative paths start in.
pub(super) fn tables(folder: &Path) -> impl Iterator<Item = (PathBuf, Table)> {
    let above = folder.ancestors().map(|folder| folder.join(".cargo"));
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".cargo")));
    above.chain(home).filter_map(|folder| {
        let files = ["config.toml", "config"].map(|name| folder.join(name));
        let text = files.iter().find_map(|file| fs::read_to_string(file).ok())?;
        Some((folder.parent()?.to_owned(), text.parse().ok()?))
    })
}

/// The folders that cargo builds in for these packages, apart from the `target` of each: what its variables say, in the
/// environment of this process, else what the nearest configuration file says.
pub(in crate::discover) fn target_folders<'a>(
    packages: impl Iterator<Item = &'a Path>,
    root: &'a Path,
) -> BTreeSet<PathBuf> {
    let mut packages = packages.peekable();
    if packages.peek().is_none() {
        return BTreeSet::new();
    }
    let variables = ["CARGO_TARGET_DIR", "CARGO_BUILD_TARGET_DIR"];
    let said = variables.iter().find_map(env::var_os).filter(|folder| !folder.is_empty());
    let folders: BTreeSet<PathBuf> = match said {
        Some(folder) => {
            let places = packages.chain([root]);
            places.map(|place| place.join(&folder)).collect()
        }
        None => packages.filter_map(configured).collect(),
    };
    folders.into_iter().filter_map(|folder| folder.canonicalize().ok()).collect()
}

/// `build.target-dir`.
fn configured(package: &Path) -> Option<PathBuf> {
    tables(package).find_map(|(folder, table)| {
        let target = table.get("build").and_then(|build| build.get("target-dir")).and_then(Value::as_str)?;
        Some(folder.join(target))
    })
}
