//! Threads that come to key points in states in which the code of detours and hand-offs could not run.

use std::ffi::OsStr;

use tests::{Build, Optimisation, Tool};

#[test]
fn threads_in_odd_states_are_scheduled() {
    for level in Optimisation::ALL {
        let program = Build::new("unseen/processor/odd_states.c", level).program().unwrap();
        // A filter takes the claim away.
        for (state, code) in [("top", 0), ("aligned", 0), ("filter", 2), ("processor", 0)] {
            for strategy in ["auto", "dpor", "icb"] {
                let folder = tempfile::tempdir().unwrap();
                let options = ["--strategy", strategy, "--output"].map(OsStr::new);
                let options = options.into_iter().chain([folder.path().as_os_str()]);
                let outcome = Tool::explore(options, &program).and([state]).run().unwrap();
                assert_eq!(outcome.code, code, "{state} {strategy} {level:?}: {}", outcome.transcript());
                let schedules = outcome.report["schedules"].as_u64();
                assert!(schedules > Some(1), "{state} {strategy} {level:?}: {}", outcome.transcript());
            }
        }
    }
}
