//! What the kernel keeps of a process, and what other processes do to it: events, or the claim goes.

use tests::{Build, Optimisation};

use super::unseen::{explore_built, explore_with};

/// That a thread ends is an event where the program asks for it, and does not wait.
#[test]
fn a_thread_that_has_not_ended_yet_is_found_by_who_asks_for_its_end() {
    for (nth, way) in ["join", "timed", "clock"].into_iter().enumerate() {
        let outcome = explore_with("asks_for_end.c", Optimisation::ALL[nth % 2], &[], &[way]);
        assert_eq!(outcome.code, 1, "{way}: {}", outcome.transcript());
        assert_eq!(outcome.finding()["kind"], "assertion", "{way}: {}", outcome.transcript());
    }
    for (nth, way) in ["join or wait", "long"].into_iter().enumerate() {
        let outcome = explore_with("asks_for_end.c", Optimisation::ALL[nth % 2], &[], &[way]);
        assert_eq!(outcome.code, 0, "{way}: {}", outcome.transcript());
    }
    // The time of a join runs out only if the thread is stalled for as long.
    let outcome = explore_with("asks_for_end.c", Optimisation::O2, &["--max-stall", "10ms"], &["long"]);
    assert_eq!(outcome.code, 1, "{}", outcome.transcript());
}

#[test]
fn what_the_kernel_tells_of_a_thread_and_what_a_process_gets_are_no_events() {
    for ((way, kind), level) in
        [("kill", "system-call"), ("spawn", "task")].into_iter().zip(Optimisation::ALL)
    {
        let build = Build::new("unseen/asks_for_end.c", level).flag("-DALONE");
        let outcome = explore_built(&build, &[], &[way]);
        assert_eq!(outcome.code, 2, "{way}: {}", outcome.transcript());
        assert_eq!(outcome.report["not_covered"][0]["kind"], kind, "{way}: {}", outcome.transcript());
    }
}
