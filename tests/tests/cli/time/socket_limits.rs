//! Time limits of sockets (`SO_RCVTIMEO`, `SO_SNDTIMEO`): a call that waits at one ends as other timed waits do.

use tests::{Build, Outcome, Tool, levels};

/// A variant of a program, explored at each level by each of these searches.
fn each(source: &str, flags: &[&str], check: impl Fn(&Outcome)) {
    for level in levels(source) {
        let build = Build::new(format!("input_output/{source}.c"), level);
        let program = flags.iter().fold(build, |build, flag| build.flag(flag)).program().unwrap();
        for strategy in ["auto", "icb", "dpor"] {
            let folder = tempfile::tempdir().unwrap();
            let output = folder.path().to_string_lossy();
            let options = ["--strategy", strategy, "--max-schedules", "200", "--output", &output];
            check(&Tool::explore(options, &program).run().unwrap());
        }
    }
}

/// Nothing is found, be it that not all was run.
fn does_not_fail(outcome: &Outcome) {
    assert!([0, 2].contains(&outcome.code), "{}", outcome.transcript());
    assert_eq!(outcome.report["findings"], serde_json::json!([]), "{}", outcome.transcript());
}

#[test]
fn an_answer_comes_within_the_limit_of_a_socket_or_after_that() {
    each("answers_in_time", &[], |outcome| {
        assert_eq!(outcome.report["verdict"], "clean", "{}", outcome.transcript());
    });
    each("answers_in_time", &["-DSHORT"], |outcome| {
        assert_eq!(outcome.code, 1, "{}", outcome.transcript());
        assert!(outcome.says("exit"), "{}", outcome.transcript());
    });
}

#[test]
fn each_call_ends_by_the_limit_of_its_socket() {
    each("limits_of_sockets", &[], does_not_fail);
}

#[test]
fn a_thread_that_sends_waits_for_room() {
    each("waits_for_room", &["-DENDLESS"], |outcome| {
        assert!(outcome.says("waits for room for output to file descriptor"), "{}", outcome.transcript());
    });
    each("waits_for_room", &[], does_not_fail);
}

#[test]
fn a_limit_that_passes_in_the_kernel_is_no_failure_while_others_could_go_on() {
    each("whole_message", &[], does_not_fail);
    each("whole_message", &["-DHALF"], |outcome| {
        assert_eq!(outcome.code, 1, "{}", outcome.transcript());
        assert!(outcome.says("MSG_WAITALL"), "{}", outcome.transcript());
    });
}
