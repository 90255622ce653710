//! What a library's generic code does with memory that the user shares is explored as if the user had written it.

use std::ffi::OsStr;

use tests::{Build, Optimisation, Tool};

/// Explores an addition by two threads to this collection, which goes wrong if one is interrupted.
fn breaks(collection: &str) {
    for level in [Optimisation::O0, Optimisation::O2] {
        let program = Build::new("peculiar/unguarded.rs", level).program().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let options = ["--strategy", "icb", "--no-explain", "--output"].map(OsStr::new);
        let options = options.into_iter().chain([folder.path().as_os_str()]);
        let outcome = Tool::explore(options, &program).and([collection]).run().unwrap();
        assert_eq!(outcome.code, 1, "{}", outcome.transcript());
        assert_eq!(outcome.finding()["preemptions"], 1, "{}", outcome.transcript());
    }
}

#[test]
fn an_unguarded_vector_loses_an_element() {
    breaks("Vec");
}

#[test]
fn an_unguarded_queue_loses_an_element() {
    breaks("VecDeque");
}

#[test]
fn an_unguarded_text_loses_a_character() {
    breaks("String");
}

/// Its code is of another crate than the standard library's own.
#[test]
fn an_unguarded_hash_map_loses_an_element() {
    breaks("HashMap");
}

#[test]
fn an_unguarded_tree_is_damaged() {
    breaks("BTreeMap");
}
