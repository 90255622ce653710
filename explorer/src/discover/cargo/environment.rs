//! The environment that cargo gives to the programs and tests that it runs.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use toml::Value;

use super::Manifest;
use super::settings::tables;
use crate::discover::kind::CargoTarget;
use crate::input::environment::Variables;

/// The variables that cargo sets for a target of a package, in the order of their names.
pub(in crate::discover) fn variables(target: &CargoTarget, manifest: &Manifest) -> Variables {
    let sysroot = sysroot(&target.folder);
    let mut all = configured(manifest.folder());
    all.extend(of_package(manifest));
    if let Some(sysroot) = &sysroot {
        all.push(("CARGO".into(), sysroot.join("bin/cargo").into()));
    }
    all.push(("LD_LIBRARY_PATH".into(), library_path(target, sysroot.as_deref())));
    all.sort();
    all
}

fn of_package(manifest: &Manifest) -> Variables {
    let version = manifest.member("version");
    let (numbers, pre) = version.split_once('-').unwrap_or((&version, ""));
    let numbers = numbers.split_once('+').map_or(numbers, |(numbers, _)| numbers);
    let mut parts = numbers.split('.');
    let mut part = || parts.next().unwrap_or_default().to_owned();
    let mut all = vec![
        ("CARGO_MANIFEST_DIR", manifest.folder().to_string_lossy().into_owned()),
        ("CARGO_MANIFEST_PATH", manifest.path.to_string_lossy().into_owned()),
        ("CARGO_PKG_VERSION", version.clone()),
        ("CARGO_PKG_VERSION_MAJOR", part()),
        ("CARGO_PKG_VERSION_MINOR", part()),
        ("CARGO_PKG_VERSION_PATCH", part()),
        ("CARGO_PKG_VERSION_PRE", pre.split('+').next().unwrap_or_default().to_owned()),
    ];
    for (variable, member) in [
        ("CARGO_PKG_AUTHORS", "authors"),
        ("CARGO_PKG_NAME", "name"),
        ("CARGO_PKG_DESCRIPTION", "description"),
        ("CARGO_PKG_HOMEPAGE", "homepage"),
        ("CARGO_PKG_LICENSE", "license"),
        ("CARGO_PKG_LICENSE_FILE", "license-file"),
        ("CARGO_PKG_README", "readme"),
        ("CARGO_PKG_REPOSITORY", "repository"),
        ("CARGO_PKG_RUST_VERSION", "rust-version"),
    ] {
        all.push((variable, manifest.member(member)));
    }
    all.into_iter().map(|(name, value)| (name.into(), value.into())).collect()
}

/// The folders in which the loader looks for libraries; those of the user's environment come last.
fn library_path(target: &CargoTarget, sysroot: Option<&Path>) -> OsString {
    let mut folders = vec![target.folder.clone(), target.folder.join("deps")];
    if let Some(sysroot) = sysroot {
        folders.push(sysroot.join("lib/rustlib/x86_64-unknown-linux-gnu/lib"));
        folders.push(sysroot.join("lib"));
    }
    let inherited = std::env::var_os("LD_LIBRARY_PATH");
    folders.extend(inherited.iter().flat_map(std::env::split_paths));
    std::env::join_paths(folders).unwrap_or_default()
}

/// Folder of the toolchain that built the target, as cargo noted it beside the target.
fn sysroot(folder: &Path) -> Option<PathBuf> {
    let notes = folder.ancestors().skip(1).take(2).map(|folder| folder.join(".rustc_info.json"));
    let notes = notes.filter_map(|path| files::read(&path, files::Kind::Settings).ok()).next()?;
    let notes: serde_json::Value = serde_json::from_slice(&notes).ok()?;
    let outputs = notes["outputs"].as_object()?.values();
    let mut lines = outputs.filter_map(|output| output["stdout"].as_str()).flat_map(str::lines);
    lines.find(|line| line.starts_with('/')).map(PathBuf::from)
}

/// `[env]` of the `.cargo/config.toml`s above the package, the nearest first. A variable that the user's environment has
/// already stays, unless `force` is set.
fn configured(package: &Path) -> Variables {
    let mut found = Variables::new();
    for (folder, table) in tables(package) {
        let Some(Value::Table(variables)) = table.get("env") else { continue };
        for (name, value) in variables {
            let is_new = !found.iter().any(|(known, _)| known == name.as_str());
            if let Some(value) = configured_value(name, value, &folder).filter(|_| is_new) {
                found.push((name.into(), value));
            }
        }
    }
    found
}

fn configured_value(name: &str, value: &Value, folder: &Path) -> Option<OsString> {
    let flag = |flag: &str| value.get(flag).and_then(Value::as_bool).unwrap_or_default();
    let text = value.as_str().or_else(|| value.get("value")?.as_str())?;
    if std::env::var_os(name).is_some() && !flag("force") {
        return None;
    }
    Some(if flag("relative") { folder.join(text).into() } else { text.into() })
}
