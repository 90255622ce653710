//! A program that always stands still is explained by its own execution: no other one ends well that it could be
//! compared with.

use std::ffi::OsStr;

use tests::{Build, Optimisation, Outcome, Tool, levels};

fn explore(level: Optimisation, format: &str, what: &str) -> Outcome {
    let program = Build::new("waiting/always_waits.c", level).program().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let options = ["explore", "--format", format, "--output"].map(OsStr::new);
    let options = options.into_iter().chain([folder.path().as_os_str()]);
    Tool::new(options).and([&program]).and([what]).run().unwrap()
}

/// Checks the explanation of the program with this argument, at whatever level it is compiled.
fn is_told(what: &str, why: &str) {
    for level in levels(what) {
        let outcome = explore(level, "json", what);
        let finding = outcome.finding();
        assert_eq!(finding["kind"], "always-fails", "{}", outcome.transcript());
        assert_eq!(finding["explanation"]["sentence"], why, "{what} at {level:?}");
    }
}

/// A lock that main took before there were other threads was taken by no event, and has no line.
#[test]
fn locks_that_can_never_be_had_are_told() {
    is_told(
        "knocks-twice",
        "double lock: T2 waits for `door` (always_waits.c:16), which it holds itself since always_waits.c:15",
    );
    is_told(
        "joins",
        "circular wait: T1 waits for T2 to end (always_waits.c:68); T2 waits for `door` (always_waits.c:21), which T1 \
         holds",
    );
    is_told(
        "slams",
        "missing release: T2 took `door` (always_waits.c:28) and ended without giving it back, and T1 waits for it \
         (always_waits.c:84)",
    );
}

#[test]
fn what_nobody_does_is_told() {
    is_told(
        "listens",
        "missed notification: T2 waits for `bell` (always_waits.c:36), and nobody wakes it; T1 waits for T2 to end \
         (always_waits.c:68)",
    );
    is_told(
        "gives-late",
        "missed notification: T2 waits for `key` (always_waits.c:42), and nobody posts it; T1 waits for T2 to end \
         (always_waits.c:68)",
    );
    is_told(
        "enters",
        "missed notification: T2 waits for `key` (always_waits.c:61), and nobody posts it after T2 took it \
         (always_waits.c:59); T1 waits for T2 to end (always_waits.c:68)",
    );
    is_told(
        "arrives",
        "missed arrival: T2 waits at `gate` for the others (always_waits.c:48), and they do not come; T1 waits for T2 to \
         end (always_waits.c:68)",
    );
    is_told("looks", "livelock: T2 spins until `open_now` changes (always_waits.c:53), which nobody changes");
}

/// Only where no order of threads has the signal come later is it called lost.
#[test]
fn a_signal_that_helps_in_no_order_is_not_called_lost() {
    is_told(
        "rings-early",
        "lost wake-up: T1 signals `bell` (always_waits.c:90) before T3 waits for it (always_waits.c:36), and nobody \
         signals again",
    );
    is_told(
        "rings",
        "missed notification: T2 waits for `bell` (always_waits.c:36), and nobody signals it after T1 did \
         (always_waits.c:96); T1 waits for T2 to end (always_waits.c:97)",
    );
}

#[test]
fn people_read_it_where_it_says_that_no_schedule_helps() {
    let outcome = explore(Optimisation::O0, "text", "knocks-twice");
    let lines = "\n  it fails whatever the schedule, in whatever order threads run\n  why: double lock: T2 waits for ";
    assert!(outcome.stdout.contains(lines), "{}", outcome.transcript());
}

/// An outcome that has not been seen may exist all the same.
#[test]
fn whatever_the_schedule_is_said_where_it_is_shown() {
    for level in levels("nearly_always") {
        let program = Build::new("startup/nearly_always.c", level).program().unwrap();
        for (arguments, words) in [
            (&[][..], "\n  it failed in each of the "),
            (&["early"], "\n  it fails whatever the schedule, in whatever order threads run\n"),
            (&["a", "few"], "\n  it fails whatever the schedule, in whatever order threads run\n"),
        ] {
            let tool = Tool::new(["explore", "--no-explain", "--strategy", "icb", "--max-preemptions", "0"]);
            let outcome = tool.and([&program]).and(arguments).run().unwrap();
            assert!(outcome.stdout.contains(words), "{arguments:?}: {}", outcome.transcript());
        }
    }
}
