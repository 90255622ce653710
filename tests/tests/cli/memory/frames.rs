//! Memory of a thread's own that other threads use: variables on its stack and its thread-local ones, also when their function has returned
//! or the thread has ended, and the stacks of coroutines.

use tests::{Build, Optimisation, Outcome, levels};

use super::unseen::explore_built;

fn explore(source: &str, level: Optimisation, flags: &[&str]) -> Outcome {
    let build = Build::new(format!("unseen/{source}"), level);
    explore_built(&flags.iter().fold(build, |build, flag| build.flag(flag)), &[], &[])
}

#[test]
fn variables_that_outlive_their_function_or_thread_are_seen() {
    for level in levels("stacks/outlived.c") {
        for flags in [&[][..], &["-DTHREAD_LOCAL"], &["-DRETURNS"]] {
            let outcome = explore("stacks/outlived.c", level, flags);
            // In which place the next function has its variables is the compiler's affair.
            let is_told = outcome.report["not_covered"][0]["kind"] == "dead-frame";
            let is_right = outcome.code == 1 || flags == ["-DRETURNS"] && outcome.code == 2 && is_told;
            assert!(is_right, "{flags:?} {level:?}: {}", outcome.transcript());
            let outcome = explore("stacks/outlived.c", level, &[flags, &["-DWAITS"]].concat());
            assert_eq!(outcome.code, 0, "{flags:?} {level:?}: {}", outcome.transcript());
        }
    }
}

/// The frames of a coroutine that has yielded lie above the place where it goes on.
#[test]
fn variables_of_coroutines_that_have_yielded_are_seen() {
    for level in levels("stacks/yielded_coroutine.c") {
        let outcome = explore("stacks/yielded_coroutine.c", level, &[]);
        assert_eq!(outcome.code, 1, "{level:?}: {}", outcome.transcript());
        let outcome = explore("stacks/yielded_coroutine.c", level, &["-DLOCKED"]);
        let entry = &outcome.report["not_covered"][0]["kind"];
        assert_eq!(
            (outcome.code, entry),
            (2, &"switched-stack".into()),
            "{level:?}: {}",
            outcome.transcript()
        );
    }
}

#[test]
fn elements_that_a_mask_leaves_out_are_not_touched() {
    for level in levels("processor/masked_moves.c") {
        let outcome = explore("processor/masked_moves.c", level, &[]);
        let races = outcome.report["races"].as_array().map(Vec::len);
        assert_eq!((outcome.code, races), (0, Some(0)), "{level:?}: {}", outcome.transcript());
        let outcome = explore("processor/masked_moves.c", level, &["-DBOTH"]);
        assert_eq!(outcome.code, 1, "{level:?}: {}", outcome.transcript());
    }
}
