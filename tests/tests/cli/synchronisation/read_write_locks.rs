//! Locks whose taking is several events: read-write locks that prefer writers, and Rust's mutex where nothing tells
//! which instructions take it. The waiting writer that keeps readers out is explored, and every order of trying,
//! waiting and taking is, once.

use std::ffi::OsStr;

use tests::{Build, Optimisation, Outcome, Tool, levels};

fn explore(source: &str, level: Optimisation, options: &[&str], arguments: &[&str]) -> Outcome {
    explore_build(&Build::new(format!("synchronisation/{source}"), level), options, arguments)
}

fn explore_build(build: &Build, options: &[&str], arguments: &[&str]) -> Outcome {
    let program = build.program().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let folder_option = [OsStr::new("--output"), folder.path().as_os_str()];
    let options = folder_option.into_iter().chain(options.iter().map(OsStr::new));
    Tool::explore(options, &program).and(arguments).run().unwrap()
}

/// `dpor` runs each class that `dfs` runs, once.
fn is_reduced_exactly(build: &Build, arguments: &[&str]) {
    let with = |strategy| {
        let options = ["--strategy", strategy, "--keep-going", "--no-races"];
        explore_build(build, &options, arguments)
    };
    let (all, reduced) = (with("dfs"), with("dpor"));
    for key in ["schedules", "deadlocked"] {
        assert_eq!(reduced.report[key], all.report[key], "{}", reduced.transcript());
    }
    assert_eq!(reduced.report["redundant"], 0, "{}", reduced.transcript());
    assert!(all.report["schedules"].as_u64() > Some(5), "{}", all.transcript());
}

/// A reader waits for a writer that waits for it; one preemption, before the reader takes the lock again, shows it.
fn is_stuck(outcome: &Outcome) {
    assert_eq!(outcome.code, 1, "{}", outcome.transcript());
    let finding = outcome.finding();
    assert_eq!(
        (&finding["kind"], &finding["preemptions"]),
        (&"deadlock".into(), &1.into()),
        "{}",
        outcome.transcript()
    );
    assert!(outcome.says("waits for a read lock"), "{}", outcome.transcript());
    assert!(outcome.says("waits for a write lock"), "{}", outcome.transcript());
}

#[test]
fn a_reader_of_rusts_standard_library_waits_for_a_writer_that_waits() {
    for level in levels("reads_again") {
        is_stuck(&explore("reads_again.rs", level, &["--strategy", "icb"], &[]));
    }
}

#[test]
fn a_reader_of_the_c_library_waits_for_a_writer_that_waits_if_writers_go_first() {
    for level in levels("writers_first") {
        is_stuck(&explore("writers_first.c", level, &["--strategy", "icb"], &["writers"]));
        let outcome = explore("writers_first.c", level, &["--strategy", "dpor"], &[]);
        assert_eq!(outcome.code, 0, "{}", outcome.transcript());
    }
}

#[test]
fn reduction_loses_no_order_of_readers_and_writers() {
    let programs: [(&str, &[&str]); 3] =
        [("reads_and_writes.rs", &[]), ("reads_again.rs", &[]), ("writers_first.c", &["writers"])];
    for (source, arguments) in programs {
        for level in levels(source) {
            is_reduced_exactly(&Build::new(format!("synchronisation/{source}"), level), arguments);
        }
    }
}

#[test]
fn reduction_loses_no_order_of_mutexes_without_debug_information() {
    let build = |level| Build::new("synchronisation/three_increments.rs", level);
    is_reduced_exactly(&build(Optimisation::O0), &[]);
    is_reduced_exactly(&build(Optimisation::O2), &[]);
    // As cargo builds a release.
    let released = build(Optimisation::O2).flag("-Cdebuginfo=0").flag("-Cstrip=debuginfo");
    is_reduced_exactly(&released, &[]);
}

fn sentence(source: &str, level: Optimisation, arguments: &[&str]) -> String {
    let program = Build::new(format!("synchronisation/{source}"), level).program().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let options = ["--strategy", "icb", "--output"].iter().map(OsStr::new).chain([folder.path().as_os_str()]);
    let outcome = Tool::explain(options, &program).and(arguments).run().unwrap();
    let sentence = outcome.finding()["explanation"]["sentence"].as_str();
    sentence.unwrap_or_else(|| panic!("not explained: {}", outcome.transcript())).to_owned()
}

#[test]
fn locks_that_are_taken_in_either_order_are_told_with_their_names() {
    for level in levels("writers_order") {
        assert_eq!(
            sentence("writers_order.c", level, &[]),
            "lock-order cycle: T2 waits for `stock_lock` (writers_order.c:11), which T3 holds since writers_order.c:20; T3 \
             waits for `order_lock` (writers_order.c:21), which T2 holds since writers_order.c:10",
            "{level:?}"
        );
        assert_eq!(
            sentence("crossed_writers.rs", level, &[]),
            "lock-order cycle: T2 waits for `STOCK` (crossed_writers.rs:11), which T3 holds since crossed_writers.rs:17; T3 \
             waits for `ORDERS` (crossed_writers.rs:18), which T2 holds since crossed_writers.rs:10",
            "{level:?}"
        );
    }
}

#[test]
fn a_reader_behind_a_writer_that_waits_is_told_as_that() {
    for level in levels("reads_again") {
        assert_eq!(
            sentence("reads_again.rs", level, &[]),
            "reader behind a waiting writer: T1 waits to read `TABLE` (reads_again.rs:10) behind T2, which waits to write it; \
             T2 waits for `TABLE` (reads_again.rs:14), which T1 holds since reads_again.rs:15",
            "{level:?}"
        );
        assert_eq!(
            sentence("writers_first.c", level, &["writers"]),
            "reader behind a waiting writer: T1 waits to read `lock` (writers_first.c:11) behind T2, which waits to write it; \
             T2 waits for `lock` (writers_first.c:18), which T1 holds since writers_first.c:33",
            "{level:?}"
        );
    }
}
