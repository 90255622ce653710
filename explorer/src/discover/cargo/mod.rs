//! Executables that cargo builds, recognised by where they lie and by what cargo notes beside them. Cargo itself is not
//! asked.

mod environment;
mod manifest;
mod settings;

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use ptrace_backend::attention;

use super::kind::{CargoKind, CargoTarget, Kind};
pub(super) use environment::variables;
pub(super) use manifest::Manifest;
pub(super) use settings::target_folders;

impl CargoTarget {
    /// The command that builds it, in any folder of its package.
    #[must_use]
    pub fn build_command(&self) -> String {
        let verb = if self.is_test { "test --no-run" } else { "build" };
        let what = match self.kind {
            CargoKind::Lib => "--lib".to_owned(),
            kind => format!("--{} {}", kind.name(), self.name),
        };
        format!("cargo {verb} --package {} {what}{}", self.package, self.profile_options())
    }

    fn profile_options(&self) -> String {
        let name = |folder: &Path| folder.file_name().map(|name| name.to_string_lossy().into_owned());
        let profile = match name(&self.folder).as_deref() {
            Some("debug") | None => String::new(),
            Some("release") => " --release".to_owned(),
            Some(other) => format!(" --profile {other}"),
        };
        // `target/TRIPLE/debug` where the user asked for a triple.
        let triple = self.folder.parent().and_then(name).filter(|parent| parent.matches('-').count() >= 2);
        triple.map_or(profile.clone(), |triple| format!("{profile} --target {triple}"))
    }
}

/// Cargo's notes beside its executables, each folder read once.
#[derive(Default)]
pub(super) struct Notes(HashMap<PathBuf, Vec<Unit>>);

/// Something that cargo built.
#[derive(Clone)]
struct Unit {
    package: String,
    hash: String,
    folder: PathBuf,
}

impl Notes {
    /// The tool that built the file with these names, and as which target.
    pub(super) fn kind(&mut self, paths: &[PathBuf]) -> Kind {
        self.target(paths).map_or(Kind::Plain, Kind::Cargo)
    }

    /// The target that cargo built at one of these paths, which are names of one file; `None` if cargo built none of them.
    fn target(&mut self, paths: &[PathBuf]) -> Option<CargoTarget> {
        let by_hash = paths.iter().find_map(|path| self.hashed(path));
        by_hash.or_else(|| paths.iter().find_map(|path| self.plain(path)))
    }

    /// `target/debug/deps/NAME-HASH`, whose notes are in `target/debug/.fingerprint/PACKAGE-HASH`.
    fn hashed(&mut self, path: &Path) -> Option<CargoTarget> {
        attention::round();
        let within = path.parent()?.file_name()?;
        let folder =
            ["deps", "examples"].iter().any(|name| within == *name).then(|| path.ancestors().nth(2))??;
        let (_, hash) = path.file_name()?.to_str()?.rsplit_once('-')?;
        let unit = self.units(folder).iter().find(|unit| unit.hash == hash)?.clone();
        let entries = names_in(&unit.folder);
        entries.iter().find_map(|entry| target(entry, &unit.package, folder))
    }

    /// `target/debug/NAME` and `target/debug/examples/NAME`, where the file system has no second name for the file.
    fn plain(&mut self, path: &Path) -> Option<CargoTarget> {
        let parent = path.parent()?;
        let name = path.file_name()?.to_str()?;
        let is_example = parent.file_name()? == "examples";
        let folder = if is_example { parent.parent()? } else { parent };
        let note = format!("{}-{name}", if is_example { "example" } else { "bin" });
        let unit = self.units(folder).iter().find(|unit| is_there(&unit.folder.join(&note)))?.clone();
        target(&note, &unit.package, folder)
    }

    fn units(&mut self, folder: &Path) -> &[Unit] {
        self.0.entry(folder.to_owned()).or_insert_with(|| {
            let notes = folder.join(".fingerprint");
            let units = names_in(&notes).into_iter().filter_map(|name| {
                let (package, hash) = name.rsplit_once('-')?;
                Some(Unit { package: package.to_owned(), hash: hash.to_owned(), folder: notes.join(&name) })
            });
            units.collect()
        })
    }
}

fn is_there(note: &Path) -> bool {
    attention::round();
    note.exists()
}

fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().inspect(|_| attention::round());
    let mut names: Vec<String> =
        entries.filter_map(|entry| OsString::into_string(entry.file_name()).ok()).collect();
    names.sort();
    names
}

/// The target that the name of a note stands for: `test-integration-test-views`, `bin-server`.
fn target(note: &str, package: &str, folder: &Path) -> Option<CargoTarget> {
    const BEGINNINGS: [(&str, CargoKind, bool); 8] = [
        ("test-integration-test-", CargoKind::Test, true),
        ("test-lib-", CargoKind::Lib, true),
        ("test-bin-", CargoKind::Bin, true),
        ("test-example-", CargoKind::Example, true),
        ("test-bench-", CargoKind::Bench, true),
        ("bin-", CargoKind::Bin, false),
        ("example-", CargoKind::Example, false),
        ("bench-", CargoKind::Bench, false),
    ];
    if note.ends_with(".json") {
        return None;
    }
    BEGINNINGS.iter().find_map(|(beginning, kind, is_test)| {
        let name = note.strip_prefix(beginning)?.to_owned();
        let (package, folder) = (package.to_owned(), folder.to_owned());
        Some(CargoTarget { package, kind: *kind, name, is_test: *is_test, folder })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_name_what_was_built() {
        for (note, expected) in [
            ("test-lib-cargo_tests", "cargo test --no-run --package p --lib"),
            ("test-bin-server", "cargo test --no-run --package p --bin server"),
            ("test-integration-test-views", "cargo test --no-run --package p --test views"),
            ("bin-server", "cargo build --package p --bin server"),
            ("example-demo", "cargo build --package p --example demo"),
        ] {
            let found = target(note, "p", Path::new("/w/target/debug")).unwrap();
            assert_eq!(found.build_command(), expected);
        }
        for note in ["lib-x", "invoked.timestamp", "dep-bin-x", "bin-x.json", "run-build-script-x"] {
            assert_eq!(target(note, "p", Path::new("/w/target/debug")), None);
        }
    }

    #[test]
    fn profiles_and_triples_are_kept() {
        for (folder, expected) in [
            ("/w/target/release", "cargo build --package p --bin x --release"),
            ("/w/target/small", "cargo build --package p --bin x --profile small"),
            (
                "/w/target/x86_64-unknown-linux-gnu/debug",
                "cargo build --package p --bin x --target x86_64-unknown-linux-gnu",
            ),
        ] {
            assert_eq!(target("bin-x", "p", Path::new(folder)).unwrap().build_command(), expected);
        }
    }
}
