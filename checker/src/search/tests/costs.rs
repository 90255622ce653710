//! Costs of schedules, on the example programs of the papers that define them.

use super::*;
use crate::event::failure::FailureKind;
use crate::limit::Limit;
use crate::trace::{Reason, cost};

fn failing(text: &str) -> Finding {
    let outcome = explore(&model(text), &Options::default(), &mut SilentObserver).unwrap();
    outcome.findings.into_iter().next().unwrap_or_else(|| panic!("{text} does not fail"))
}

/// The least preemptions with which a program fails, and the variables that they are at, as RankChecker's paper gives
/// them for its figures.
fn figure(text: &str, preemptions: u32, variables: u32) {
    let finding = failing(text);
    assert_eq!(finding.failure.kind, FailureKind::Assertion);
    assert_eq!((finding.preemptions, finding.variables), (Some(preemptions), Some(variables)), "{text}");
}

#[test]
fn variables_of_preemptions() {
    // In each figure an increment is one step.
    figure("r a, assert a == 0 | add a", 0, 0);
    figure("r a t1, r a t2, assert t1 == t2 | add a", 1, 1);
    figure("r a t1, r a t2, assert t1 == t2 | w a 1, w a 0", 2, 1);
    figure("r a t1, r a t2, r b t3, assert t1 == t2 || t3 != 1 | w a 1, w b 1, w b 0", 2, 2);
    figure("r a t1, r a t2, r b t3, r b t4, assert t1 == t2 || t3 == t4 | add a | add b", 2, 2);
}

#[test]
fn a_thread_preempted_before_its_first_access_is_at_the_start() {
    let finding = failing("r y, r x, if x == 1 { w z }, r z, assert z == 0 || x == 0 | w x 1, w x 0");
    // Thread 2 goes first, is left after one write, and comes back when it does not matter.
    assert_eq!((finding.preemptions, finding.variables), (Some(1), Some(1)));
}

#[test]
fn the_costs_kept_while_running_are_those_of_the_definitions() {
    let options = Options {
        strategy: StrategyKind::Random,
        max_schedules: Some(300),
        keep_going: true,
        ..Options::default()
    };
    let text = "lock m, timedwait c m, unlock m, yield, r x, crash | r x, lock m, signal c, unlock m, w x | r x, yield, w x";
    let outcome = explore(&model(text), &options, &mut SilentObserver).unwrap();
    assert!(!outcome.findings.is_empty());
    for Finding { trace, .. } in &outcome.findings {
        assert_eq!((trace.preemptions(), trace.delays()), (cost::preemptions(trace), cost::delays(trace)));
    }
}

#[test]
fn two_threads_that_matter_among_four_are_two() {
    let text = "create T2, create T3, create T4, join T2, join T3, join T4, r x, assert x == 2 \
                | T2: r x, w x x+1 | T3: r x, w x x+1 | T4: r y";
    assert_eq!(failing(text).threads, Some(2));
    // The main thread touches what the others do, but creation and join order that.
    let three = text.replace("T4: r y", "T4: r x");
    let finding = failing(&three);
    assert_eq!((cost::threads(&finding.trace), finding.threads), (3, None));
}

#[test]
fn delays_count_the_threads_that_are_skipped() {
    // Thread 3 goes first: two are skipped. The round goes on from it with thread 1.
    let text = "r x, r y, assert x == 0 || y == 1 | w y | w x";
    let options = Options { strategy: StrategyKind::Idb, ..Options::default() };
    let finding = explore(&model(text), &options, &mut SilentObserver).unwrap().findings.remove(0);
    assert_eq!((finding.delays, finding.preemptions), (Some(2), Some(0)));
}

#[test]
fn every_switch_has_its_reason() {
    let text = "create T2, lock m, yield, yield, unlock m, join T2 | T2: r x, lock m, unlock m";
    let model = model(text);
    let outcome = replay(&model, &[], 1_000, &Limit::default()).unwrap();
    let reasons: Vec<String> = outcome
        .trace
        .steps
        .iter()
        .filter(|step| step.reason.is_switch())
        .map(|step| match &step.reason {
            Reason::Blocked(thread, on) => format!("{thread} blocked on {on:?}"),
            reason => format!("{reason:?}"),
        })
        .collect();
    assert_eq!(reasons[0], "GaveWay(main)");
    assert!(reasons[1].starts_with("main/1 blocked on Mutex"), "{}", reasons[1]);
    assert!(reasons[2].starts_with("main blocked on Join(main/1)"), "{}", reasons[2]);
    assert_eq!(reasons[3], "Finished(main/1)");
    assert_eq!(reasons.len(), 4);
}
