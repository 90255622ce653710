//! Functions that are called at exit: threads register them beside each other, and beside the end of the process.

use tests::{Build, levels};

use super::unseen::explore_built;

/// The end of the process calls the functions that were registered by then, whichever thread ends it; `_exit` calls
/// none.
#[test]
fn a_registration_for_the_end_is_in_time_or_late() {
    let ways =
        ["atexit", "on_exit", "quick_exit", "thread", "bare"].map(|way| ("endings/registers_at_end.c", way));
    for (source, way) in ways.into_iter().chain([("endings/static_at_end.cpp", "static")]) {
        for level in levels(way) {
            for (flag, code) in [("-DLATE", i32::from(way != "bare")), ("-DEARLY", 0)] {
                let build = Build::new(format!("unseen/{source}"), level).flag(flag);
                let outcome = explore_built(&build, &[], &[way]);
                assert_eq!(outcome.code, code, "{way} {flag} {level:?}: {}", outcome.transcript());
                let is_claimed = outcome.finding()["kind"] == "always-fails";
                assert!(!is_claimed, "{way} {flag} {level:?}: {}", outcome.transcript());
            }
        }
    }
}

/// After each function that it has called, the end of the process looks for more of them.
#[test]
fn a_registration_while_the_process_ends_is_in_order_with_what_is_called() {
    for strategy in ["dpor", "icb"] {
        for level in levels(strategy) {
            let explore = |flag: &str| {
                let build = Build::new("unseen/endings/registers_during_end.c", level).flag(flag);
                explore_built(&build, &["--strategy", strategy], &[])
            };
            for mistake in ["-DFIRST", "-DSECOND", "-DNEVER"] {
                let outcome = explore(mistake);
                let kind = outcome.finding()["kind"].as_str();
                let at = format!("{strategy} {mistake} {level:?}: {}", outcome.transcript());
                assert_eq!((outcome.code, kind), (1, Some("exit-code")), "{at}");
            }
            let outcome = explore("-DNONE");
            assert_eq!(outcome.code, 0, "{strategy} {level:?}: {}", outcome.transcript());
        }
    }
}

/// The C++ library keeps a promise where its thread ends, in code that nothing in the program names.
#[test]
fn a_promise_that_is_kept_where_its_thread_ends_takes_the_claim_away() {
    for level in levels("promise") {
        let outcome = explore_built(&Build::new("unseen/endings/set_at_thread_exit.cpp", level), &[], &[]);
        assert_eq!(outcome.code, 2, "{level:?}: {}", outcome.transcript());
        let named = outcome.report["not_covered"].to_string();
        assert!(named.contains("_Make_ready"), "{level:?}: {named}");
    }
}
