//! Failures in words.

use super::*;

#[test]
fn failures_are_told_in_one_sentence() {
    for (program, expected) in [
        (
            "create T2, lock a, lock b, unlock b, unlock a | T2: lock b, lock a, unlock a, unlock b",
            "deadlock: T1 and T2 wait for each other; T1 waits for mutex `b`, held by T2; T2 waits for mutex `a`, held by T1",
        ),
        // The thread that waits for the end of another one comes last.
        (
            "create T2, join T2 | T2: lock m, wait c m, unlock m",
            "deadlock: T2 waits for a signal on condition variable `c`; T1 waits for the end of T2",
        ),
        ("lock a, lock a", "deadlock: T1 waits for itself; T1 waits for mutex `a`, held by T1"),
        (
            "create T2, lock m, wait c m, unlock m | T2: lock m, signal c, unlock m",
            "lost wake-up: T1 waits for a signal on condition variable `c`, but the one from T2 came while nobody waited; \
             T1 waits for a signal on condition variable `c`",
        ),
        (
            "create T2, w y, w x | T2: r y, if y { await z }",
            "livelock: nothing changes any more; T2 spins until `z` changes",
        ),
        ("create T2, r x, assert x == 0 | T2: w x", "an assertion failed"),
    ] {
        assert_eq!(explore(program).report.findings[0].message, expected, "{program}");
    }
}

#[test]
fn the_first_line_of_a_report_names_the_kind_once() {
    for (program, expected) in [
        (LOCK_ORDER, "Found: deadlock: T2 and T3 wait for each other"),
        (
            "create T2, lock m, r x, if x == 0 { wait c m }, unlock m | T2: w x",
            "Found: deadlock: T1 waits for a signal on condition variable `c`",
        ),
        (
            "create T2, lock m, wait c m, unlock m | T2: lock m, signal c, unlock m",
            "Found: deadlock — lost wake-up: T1 waits for a signal on condition variable `c`, but the one from T2 came while \
             nobody waited",
        ),
        (
            "create T2, w y, w x | T2: r y, if y { await z }",
            "Found: livelock: nothing changes any more; T2 spins until `z` changes",
        ),
        ("create T2, r x, assert x == 0 | T2: w x", "Found: assertion — an assertion failed"),
    ] {
        let text = explore(program).text();
        assert_eq!(text.lines().next(), Some(expected), "{program}");
    }
}
