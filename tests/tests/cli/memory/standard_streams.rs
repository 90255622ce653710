//! The standard streams, whose content no thread reads back: what else of them threads can find out is seen.

use tests::{Build, levels};

use super::unseen::explore_built;

/// Locks of Rust's standard library that it takes to print count where the program's own code runs under one.
#[test]
fn guards_of_standard_streams_are_locks() {
    for how in ["--cfg=guards", "--cfg=handles", "--cfg=macros"] {
        for level in levels(how) {
            let build = Build::new("unseen/outputs/held_outputs.rs", level).flag(how);
            let outcome = explore_built(&build, &[], &[]);
            let result = (outcome.code, &outcome.finding()["kind"]);
            assert_eq!(result, (1, &"deadlock".into()), "{how} {level:?}: {}", outcome.transcript());
            let outcome = explore_built(&build.flag("--cfg=ordered"), &[], &[]);
            assert_eq!(outcome.code, 0, "{how} {level:?}: {}", outcome.transcript());
        }
    }
}
