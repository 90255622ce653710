//! A critical section that is entered by an attempt is explained as one that is entered by waiting.

use std::ffi::OsStr;

use serde_json::{Value, json};
use tests::{Build, Optimisation, Tool, levels};

/// The threads and lines of the critical pair.
fn critical_pair(flags: &[&str], level: Optimisation) -> Vec<Value> {
    let build = Build::new("synchronisation/stale_lookup.c", level);
    let program = flags.iter().fold(build, |build, flag| build.flag(flag)).program().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let options = ["--strategy", "icb", "--output"].map(OsStr::new);
    let options = options.into_iter().chain([folder.path().as_os_str()]);
    let outcome = Tool::explain(options, &program).run().unwrap();
    let pair = &outcome.finding()["explanation"]["pair"];
    assert!(pair.is_object(), "{flags:?}: {}", outcome.transcript());
    let side = |side: &Value| json!([side["thread"], side["line"]]);
    let swaps = pair["swaps"].as_array().into_iter().flatten();
    swaps.map(|swap| json!([side(&swap[0]), side(&swap[1])])).collect()
}

#[test]
fn an_attempt_begins_a_critical_section_as_a_wait_does() {
    for lock in [None, Some("-DRWLOCK"), Some("-DSEMAPHORE")] {
        for attempt in [None, Some("-DTRY")] {
            let flags: Vec<&str> = lock.into_iter().chain(attempt).collect();
            for level in levels(&flags.concat()) {
                let pair = critical_pair(&flags, level);
                assert_eq!(pair, [json!([["T2", 36], ["T1", 57]])], "{flags:?} {level:?}");
            }
        }
    }
}
