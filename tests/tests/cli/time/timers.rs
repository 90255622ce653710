//! Timers are on the virtual clock: an expiry comes where the end of a sleep would. Files of signals are read as they are.

use tests::{Build, Outcome, Tool, levels};

fn explore(build: &Build) -> Outcome {
    let program = build.program().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let options = ["--workers".as_ref(), "1".as_ref(), "--output".as_ref(), folder.path().as_os_str()];
    Tool::explore(options, &program).run().unwrap()
}

/// Each variant of a program at each level, explored.
fn each(source: &str, flags: &[&str], check: impl Fn(&Outcome)) {
    for level in levels(source) {
        let build = Build::new(format!("timers/{source}"), level);
        check(&explore(&flags.iter().fold(build, |build, flag| build.flag(flag))));
    }
}

fn clean(source: &str, flags: &[&str]) {
    each(source, flags, |outcome| assert_eq!(outcome.code, 0, "{source}: {}", outcome.transcript()));
}

/// Nothing is found, and nothing claimed: where the handler of a signal runs is not explored in full.
fn not_claimed(source: &str, flags: &[&str]) {
    each(source, flags, |outcome| {
        assert_eq!(outcome.code, 2, "{source}: {}", outcome.transcript());
        assert!(outcome.says("a timer of the program sends it signals"), "{}", outcome.transcript());
    });
}

fn fails(source: &str, flags: &[&str], kinds: &[&str]) {
    each(source, flags, |outcome| {
        let kind = outcome.finding()["kind"].as_str().unwrap_or_default();
        assert!(outcome.code == 1 && kinds.contains(&kind), "{source}: {}", outcome.transcript());
    });
}

#[test]
fn an_alarm_that_guards_against_hanging_hides_no_deadlock() {
    clean("guard.c", &[]);
    fails("guard.c", &["-DINVERTED"], &["deadlock"]);
    each("guard.c", &["-DSLOW"], |outcome| {
        assert_eq!(outcome.finding()["kind"], "always-fails", "{}", outcome.transcript());
        assert!(outcome.says("SIGALRM, which a timer of its own sent"), "{}", outcome.transcript());
    });
}

#[test]
fn a_handler_comes_between_any_two_accesses_of_its_own_thread() {
    fails("pair_in_handler.c", &[], &["assertion"]);
    not_claimed("pair_in_handler.c", &["-DBLOCKED"]);
}

#[test]
fn an_alarm_ends_waits() {
    clean("alarm_ends_wait.c", &[]);
    fails("alarm_ends_wait.c", &["-DPAUSE"], &["deadlock"]);
    not_claimed("busy_until_alarm.c", &[]);
    each("alarm_ends_wait.c", &["-DEARLY"], |outcome| {
        assert_eq!(outcome.code, 0, "{}", outcome.transcript());
        assert!(outcome.says("the program sets timers before main"), "{}", outcome.transcript());
    });
}

#[test]
fn an_alarm_ends_a_wait_for_a_semaphore() {
    for flags in [&[][..], &["-DPOST"], &["-DPOST", "-DRESTART"]] {
        not_claimed("alarm_ends_semaphore_wait.c", flags);
    }
    fails("alarm_ends_semaphore_wait.c", &["-DRESTART"], &["deadlock", "always-fails"]);
}

#[test]
fn a_thread_that_computes_is_interrupted() {
    for level in levels("computes_until_alarm") {
        for flag in ["-DCOUNTS", "-DJUMPS"] {
            let program = Build::new("timers/computes_until_alarm.c", level).flag(flag).program().unwrap();
            let folder = tempfile::tempdir().unwrap();
            let folder = folder.path().to_string_lossy();
            let options = ["--run-timeout", "200ms", "--max-schedules", "2", "--output", &folder];
            let outcome = Tool::explore(options, &program).run().unwrap();
            let found = outcome.report["findings"].as_array().map(Vec::len);
            assert_eq!((outcome.code, found), (2, Some(0)), "{flag}: {}", outcome.transcript());
            assert!(outcome.says("a timer of the program sends it signals"), "{}", outcome.transcript());
        }
    }
}

#[test]
fn files_of_timers_become_readable() {
    clean("timer_file.c", &[]);
    fails("timer_file.c", &["-DLATE"], &["assertion"]);
    clean("periodic_file.c", &[]);
}

#[test]
fn a_timer_calls_a_function_on_a_thread_of_the_c_library() {
    clean("timer_calls.c", &[]);
    fails("timer_calls.c", &["-DRACY"], &["assertion"]);
    clean("timer_signals_waiter.c", &[]);
}

#[test]
fn signals_are_read_from_a_file() {
    clean("signal_file.c", &[]);
    fails("signal_file.c", &["-DTWICE"], &["deadlock"]);
}

#[test]
fn a_timer_that_only_ticks_keeps_nothing_alive() {
    each("only_ticks.c", &[], |outcome| {
        assert_eq!(outcome.finding()["kind"], "always-fails", "{}", outcome.transcript());
        assert!(outcome.says("deadlock"), "{}", outcome.transcript());
    });
}

/// Before the limit on events one cannot know: the handler may count.
#[test]
fn a_handler_that_changes_nothing_is_no_progress() {
    clean("profiled.c", &[]);
    for level in levels("profiled") {
        let program = Build::new("timers/profiled.c", level).flag("-DINVERTED").program().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().to_string_lossy();
        let options = ["--step-limit", "6000", "--workers", "1", "--output", &folder];
        let outcome = Tool::explore(options, &program).run().unwrap();
        assert_eq!(outcome.finding()["kind"], "livelock", "{}", outcome.transcript());
        assert!(outcome.says("waits for mutex `first`, held by T1"), "{}", outcome.transcript());
    }
}

#[test]
fn a_timer_of_processor_time_is_refused() {
    each("processor_time.c", &[], |outcome| {
        assert_eq!(outcome.code, 3, "{}", outcome.transcript());
        assert!(
            outcome.says("the program calls setitimer (a timer of processor time)"),
            "{}",
            outcome.transcript()
        );
    });
}
