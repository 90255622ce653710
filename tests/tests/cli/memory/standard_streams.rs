//! The standard streams, whose content no thread reads back: what else of them threads can find out is seen.

use tests::{Build, levels};

use super::unseen::explore_built;

/// Locks of Rust's standard library that it takes to print count where the program's own code runs under one.
#[test]
fn guards_of_standard_streams_are_locks() {
    for how in ["--cfg=guards", "--cfg=handles", "--cfg=macros"] {
        for level in levels(how) {
            let build = Build::new("unseen/outputs/held_outputs.rs", level).flag(how);
            let outcome = explore_built(&build, &[], &[]);
            let result = (outcome.code, &outcome.finding()["kind"]);
            assert_eq!(result, (1, &"deadlock".into()), "{how} {level:?}: {}", outcome.transcript());
            let outcome = explore_built(&build.flag("--cfg=ordered"), &[], &[]);
            assert_eq!(outcome.code, 0, "{how} {level:?}: {}", outcome.transcript());
        }
    }
}

/// The library's code is not watched: where the program's own code looks at what calls do to a stream, the claim is taken away, or the failure is
/// found.
#[test]
fn what_the_program_finds_in_a_stream_is_not_passed_over() {
    let buffers = ["-DPRINTF", "-DCERR", "-DFILE_OUT", "-DPRINTED"].map(|what| ("own_buffer", what));
    let states = ["-DPOINTER", "-DPENDING", "-DERROR", "-DWIDTH", "-DGOOD", "-DINPUT"];
    for (source, what) in buffers.into_iter().chain(states.map(|what| ("stream_state", what))) {
        for level in levels(what) {
            let build = Build::new(format!("unseen/outputs/{source}.cpp"), level).flag(what);
            let outcome = explore_built(&build, &[], &[]);
            assert_ne!(outcome.code, 0, "{what} {level:?}: {}", outcome.transcript());
            let finding = &outcome.report["findings"][0];
            let is_claimed = finding["kind"] == "always-fails" && finding["tried"].is_null();
            assert!(!is_claimed, "{what} {level:?}: {}", outcome.transcript());
            let locked = explore_built(&build.flag("-DTRY"), &[], &[]);
            assert_eq!(locked.code, 0, "{what} {level:?}: {}", locked.transcript());
        }
    }
}

#[test]
fn printing_takes_nothing_away() {
    for level in levels("plain_outputs") {
        let outcome = explore_built(&Build::new("unseen/outputs/plain_outputs.cpp", level), &[], &[]);
        assert_eq!(outcome.code, 0, "{level:?}: {}", outcome.transcript());
        let apart = Build::new("unseen/outputs/own_buffer.cpp", level).flag("-DPRINTED").flag("-DAPART");
        let outcome = explore_built(&apart, &[], &[]);
        assert_eq!(outcome.code, 0, "{level:?}: {}", outcome.transcript());
    }
}
