//! The bundled programs that the backend's own tests run, each at two levels of optimisation.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use tempfile::TempDir;

use crate::compiled::compile;

pub(crate) const CPP: &str = "cpp/bounded_queue.cpp";
pub(crate) const RUST: &str = "rust/bounded_queue.rs";

/// All that are in C.
pub(crate) fn all_in_c() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/targets/c");
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let sources: Vec<String> =
        names.filter(|name| name.ends_with(".c")).map(|name| format!("c/{name}")).collect();
    assert!(sources.len() >= 20, "{sources:?}");
    sources
}

/// Hands each program to `each`, with its name: `bounded_queue-O0`, `bounded_queue-O2`.
/// Two threads share them.
pub(crate) fn at_both_levels<S: AsRef<str> + Sync>(sources: &[S], each: impl Fn(&str, &Path) + Sync) {
    let folder = tempfile::tempdir().unwrap();
    let take = |sources: &[S]| {
        for source in sources.iter().map(AsRef::as_ref) {
            for (level, program) in levels(&folder, source) {
                let stem = Path::new(source).file_stem().unwrap().display();
                each(&format!("{stem}{level}"), &program);
            }
        }
    };
    let (some, others) = sources.split_at(sources.len() / 2);
    thread::scope(|scope| {
        scope.spawn(|| take(some));
        take(others);
    });
}

fn levels(folder: &TempDir, source: &str) -> [(&'static str, PathBuf); 2] {
    let is_rust = source.ends_with(".rs");
    let flags = if is_rust { ["-Copt-level=0", "-Copt-level=3"] } else { ["-O0", "-O2"] };
    [("-O0", flags[0]), ("-O2", flags[1])].map(|(level, flag)| (level, compile(folder, source, &[flag])))
}
