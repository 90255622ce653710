//! Signals that threads get while they wait for the tracer, or stand in copied code: none is lost, none comes twice,
//! and the thread that gets it is the same each time.

use tests::{Build, Optimisation, Outcome, Tool, levels};

const STRATEGIES: [&str; 3] = ["auto", "icb", "dpor"];

/// Explores a program by several searches, where it can be anywhere in memory, and where its code is at low addresses.
fn explore_each(name: &str, check: impl Fn(&Outcome)) {
    for (level, flag) in
        [(Optimisation::O0, "-pie"), (Optimisation::O2, "-pie"), (Optimisation::O2, "-no-pie")]
    {
        let program = Build::new(format!("signals/{name}.c"), level).flag(flag).program().unwrap();
        for strategy in STRATEGIES {
            let folder = tempfile::tempdir().unwrap();
            let output = ["--output".as_ref(), folder.path().as_os_str()];
            let options = output.into_iter().chain(["--strategy".as_ref(), strategy.as_ref()]);
            check(&Tool::explore(options, &program).run().unwrap());
        }
    }
}

fn is_clean(outcome: &Outcome) {
    assert_eq!(outcome.report["verdict"], "clean", "{}", outcome.transcript());
}

/// No failure, of the program or of the tool. The places at which handlers run are not all explored, so that no bound
/// is covered.
fn is_left_open(outcome: &Outcome) {
    assert_eq!(outcome.code, 2, "{}", outcome.transcript());
    assert!(!outcome.says("failed to"), "{}", outcome.transcript());
}

#[test]
fn a_fault_runs_its_handler_once() {
    explore_each("leaps_out_of_faults", is_clean);
}

#[test]
fn a_handler_mends_what_has_faulted() {
    explore_each("mends_faults", is_clean);
}

#[test]
fn signals_that_come_together_are_all_told_of_to_the_thread_that_takes_them() {
    explore_each("masks_workers", is_left_open);
}

#[test]
fn a_signal_for_the_process_has_the_same_taker_each_time() {
    explore_each("counts_in_handler", |outcome| {
        assert_eq!(outcome.code, 1, "{}", outcome.transcript());
        assert_eq!(outcome.finding()["kind"], "assertion", "{}", outcome.transcript());
    });
}

/// A variant of a program with a semaphore, explored.
fn at_semaphore(flags: &[&str], check: impl Fn(&Outcome)) {
    for level in levels("semaphore_and_signal") {
        let build = Build::new("signals/semaphore_and_signal.c", level);
        let program = flags.iter().fold(build, |build, flag| build.flag(flag)).program().unwrap();
        for strategy in STRATEGIES {
            let folder = tempfile::tempdir().unwrap();
            let options = ["--strategy", strategy, "--output", &folder.path().to_string_lossy()];
            check(&Tool::explore(options, &program).run().unwrap());
        }
    }
}

#[test]
fn a_signal_ends_a_wait_for_a_semaphore_unless_its_handler_lets_that_go_on() {
    let fails = |outcome: &Outcome| {
        assert_eq!(outcome.code, 1, "{}", outcome.transcript());
        assert_eq!(outcome.finding()["kind"], "assertion", "{}", outcome.transcript());
    };
    for wait in ["-DPLAIN", "-DTIMED", "-DCLOCK"] {
        at_semaphore(&[wait], is_left_open);
        at_semaphore(&[wait, "-DONCE"], fails);
    }
    at_semaphore(&["-DRESTART", "-DONCE"], is_left_open);
    at_semaphore(&["-DRESTART", "-DONCE", "-DTIMED"], fails);
}

/// Accesses of a handler and of its thread to the same memory are key points if the signal comes from another thread.
#[test]
fn a_handler_comes_between_two_accesses_of_its_thread() {
    for flags in [&[][..], &["-DERRNO"], &["-DLOCAL"]] {
        for level in levels(&flags.concat()) {
            let build = Build::new("signals/between_two_accesses.c", level);
            let build = flags.iter().fold(build, |build, flag| build.flag(flag));
            let explore = |build: &Build| Tool::explore::<&str>([], &build.program().unwrap()).run().unwrap();
            let outcome = explore(&build);
            assert_eq!(outcome.code, 1, "{flags:?} {level:?}: {}", outcome.transcript());
            let outcome = explore(&build.flag("-DTRY"));
            assert_eq!(outcome.code, 2, "{flags:?} {level:?}: {}", outcome.transcript());
        }
    }
}
