//! Schedules and a store that an older version has written: they open, and replay.
//!
//! `tests/recorded` holds what version 0.1.0 of 25 November 2026 kept of ten bundled programs, each at `-O0`. The programs are compiled
//! anew here, maybe by another compiler, so that their schedules are adapted to other builds where that is so.

use std::fs;
use std::path::{Path, PathBuf};

use explorer::report::verdict::Verdict;
use explorer::store::findings::KeptFolder;
use serde_json::json;
use tests::{Build, Expectation, Manifest, Optimisation, Target, Tool};

fn recorded() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("recorded")
}

/// A folder with the program, and what was kept of it.
fn project(name: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let program = Build::new(format!("c/{name}.c"), Optimisation::O0).program().unwrap();
    fs::copy(program, folder.path().join(name)).unwrap();
    for part in ["schedules", "findings"] {
        let (from, to) = (recorded().join(name).join(part), kept(&folder, name).join(part));
        fs::create_dir_all(&to).unwrap();
        for file in fs::read_dir(from).into_iter().flatten().map(Result::unwrap) {
            fs::copy(file.path(), to.join(file.file_name())).unwrap();
        }
    }
    let target = recorded().join(name).join("target.json");
    if target.exists() {
        fs::copy(target, kept(&folder, name).join("target.json")).unwrap();
    }
    folder
}

fn kept(folder: &tempfile::TempDir, name: &str) -> PathBuf {
    folder.path().join(".interleaver").join(name)
}

#[test]
fn schedules_of_an_older_version_replay() {
    let targets = Manifest::read().unwrap().targets;
    let mut names: Vec<String> = fs::read_dir(recorded())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names.len(), 10);
    for name in names {
        let is_it = |target: &&Target| target.source() == Path::new("c").join(format!("{name}.c"));
        let target = targets.iter().find(is_it).unwrap();
        let Expectation::Found { kind, .. } = &target.expectation else { panic!("{name} is correct") };
        let folder = project(&name);
        for schedule in fs::read_dir(kept(&folder, &name).join("schedules")).unwrap() {
            let schedule = schedule.unwrap().path();
            let passes = schedule.to_string_lossy().ends_with(".passing.json");
            let replay = Tool::new(["replay", "--trust", "--format", "json"]).and([&schedule]);
            let outcome = replay.within_folder(folder.path()).run().unwrap();
            let at = format!("{}: {}", schedule.display(), outcome.transcript());
            assert_eq!(outcome.code, i32::from(!passes), "{at}");
            if !passes {
                assert_eq!(outcome.finding()["kind"], json!(kind), "{at}");
            }
        }
    }
}

#[test]
fn a_store_of_an_older_version_opens() {
    let folder = project("lock_order");
    let store = KeptFolder::at(&kept(&folder, "lock_order"));
    let last = store.target().unwrap().last;
    assert_eq!((last.verdict, last.findings.len()), (Verdict::Found, 1));
    let findings = store.findings();
    assert_eq!(findings.len(), 1);
    let finding = &findings[0].finding;
    assert_eq!((finding.place.line, finding.parties.len()), (Some(23), 3));
    assert!(finding.explanation.is_some());
}
