//! The bundled programs that the backend's own tests run, at one of two levels of optimisation each; `./test full` runs both.

use std::env;
use std::fs;
use std::path::Path;
use std::thread;

use crate::executions::compiled::compile;

pub(crate) const CPP: &str = "cpp/bounded_queue.cpp";
pub(crate) const RUST: &str = "rust/bounded_queue.rs";

/// All that are in C.
pub(crate) fn all_in_c() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/targets/c");
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut sources: Vec<String> =
        names.filter(|name| name.ends_with(".c")).map(|name| format!("c/{name}")).collect();
    assert!(sources.len() >= 20, "{sources:?}");
    sources.sort_unstable();
    sources
}

/// The flags of both levels of optimisation, of C and C++ and of Rust.
const LEVELS: [[&str; 2]; 2] = [["-O0", "-Copt-level=0"], ["-O2", "-Copt-level=3"]];

/// Hands each program to `each`, with its name: `bounded_queue-O0`, `bounded_queue-O2`. In a sample every other source is
/// compiled at the first level, and the rest at the second.
/// Two threads share them.
pub(crate) fn at_levels<S: AsRef<str> + Sync>(sources: &[S], each: impl Fn(&str, &Path) + Sync) {
    let folder = tempfile::tempdir().unwrap();
    let is_full = env::var_os("INTERLEAVER_TEST_FULL").is_some();
    let run_each = |half: usize| {
        for (place, source) in sources.iter().map(AsRef::as_ref).enumerate() {
            let levels = LEVELS.iter().enumerate().filter(|(level, _)| is_full || place % 2 == *level);
            for (_, flags) in levels.filter(|(level, _)| (place / 2 + level) % 2 == half) {
                let program = compile(&folder, source, &[flags[usize::from(source.ends_with(".rs"))]]);
                let stem = Path::new(source).file_stem().unwrap().display();
                each(&format!("{stem}{}", flags[0]), &program);
            }
        }
    };
    thread::scope(|scope| {
        scope.spawn(|| run_each(0));
        run_each(1);
    });
}
