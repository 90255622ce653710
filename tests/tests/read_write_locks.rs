//! Locks whose taking is several events: read-write locks that prefer writers, and Rust's mutex where nothing tells which
//! instructions take it. That a waiting writer keeps readers out is explored, and every order of trying, waiting and taking is,
//! once.

use std::ffi::OsStr;

use tests::{Build, Optimisation, Outcome, Tool};

fn explore(source: &str, level: Optimisation, options: &[&str], arguments: &[&str]) -> Outcome {
    explore_build(&Build::new(format!("peculiar/{source}"), level), options, arguments)
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
        let options = ["--strategy", strategy, "--keep-going", "--no-races", "--no-explain"];
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
    for level in Optimisation::ALL {
        is_stuck(&explore("reads_again.rs", level, &["--strategy", "icb"], &[]));
    }
}

#[test]
fn a_reader_of_the_c_library_waits_for_a_writer_that_waits_if_writers_go_first() {
    for level in Optimisation::ALL {
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
        for level in Optimisation::ALL {
            is_reduced_exactly(&Build::new(format!("peculiar/{source}"), level), arguments);
        }
    }
}

#[test]
fn reduction_loses_no_order_of_mutexes_without_debug_information() {
    let build = |level| Build::new("peculiar/three_increments.rs", level);
    is_reduced_exactly(&build(Optimisation::O0), &[]);
    is_reduced_exactly(&build(Optimisation::O2), &[]);
    // As cargo builds a release.
    let released = build(Optimisation::O2).flag("-Cdebuginfo=0").flag("-Cstrip=debuginfo");
    is_reduced_exactly(&released, &[]);
}
