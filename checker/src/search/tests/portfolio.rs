//! The beginning of the portfolio, and that it begins before the program has been checked.

use super::programs::{Changing, Promoting};
use super::*;
use crate::event::failure::FailureKind;
use crate::program::Program;

const LOST_UPDATE: &str = "r x, w x x+1, join T2, r x a, assert a == 2 | T2: r x, w x x+1";

fn auto(seed: u64) -> Options {
    Options { strategy: StrategyKind::Auto, seed, ..Options::default() }
}

/// The number of executions that were started up to the first failure.
fn first_failure<P: Program>(program: &P, seed: u64) -> u64 {
    let outcome = explore(program, &auto(seed), &mut SilentObserver).unwrap();
    assert_eq!(outcome.findings[0].reproduced, (2, 2));
    outcome.findings[0].executions
}

#[test]
fn its_first_schedules_leave_nothing_to_chance() {
    // The younger one first; both at the same time; the thread that waits for the lock as soon as it is free.
    let two_stages = "lock m, w a 1, unlock m, lock n, w b 1, unlock n \
                      | lock m, r a p, unlock m, lock n, r b q, unlock n, if p == 1 { assert q == 1 }";
    let programs = [("w x 1 | r x a, assert a == 1", 1), (LOST_UPDATE, 2), (two_stages, 3)];
    for (text, nth) in programs {
        for seed in 0..5 {
            assert_eq!(first_failure(&model(text), seed), nth, "{text}");
        }
    }
}

#[test]
fn the_first_one_goes_on_where_key_points_are_added_under_it() {
    let text = "create T2, create T3, join T2, join T3 | T2: w x 1 | T3: r x a, assert a == 1";
    assert_eq!(first_failure(&Promoting::new(text, text, 0), 0), 1);
}

#[test]
fn the_second_one_is_run_again_with_the_key_points_that_were_added() {
    let before = "w y, join T2 | T2: r y";
    for (after, nth) in [(0, 2), (1, 3)] {
        assert_eq!(first_failure(&Promoting::new(before, LOST_UPDATE, after), 0), nth);
    }
}

#[test]
fn a_program_that_changes_is_refused_whenever_it_does() {
    let (first, then) = (
        "lock m, r x, unlock m, w x, r x | r x, w y, w x, w x | w x",
        "r x, w x, r x | r x, w y, w x, w x | w x",
    );
    let options = Options { max_schedules: Some(20), ..auto(0) };
    let same = Changing::new(first, first, 0);
    assert_eq!(explore(&same, &options, &mut SilentObserver).unwrap().ended, SearchEnd::Budget);
    // The check comes last: two executions of the first schedule.
    assert_eq!(same.starts.into_inner(), 22);
    for after in 1..22 {
        assert!(
            explore(&Changing::new(first, then, after), &options, &mut SilentObserver).is_err(),
            "{after}"
        );
    }
}

#[test]
fn a_budget_of_few_executions_is_spent_on_a_program_that_is_checked() {
    let options = Options { max_schedules: Some(2), ..auto(0) };
    let program = Changing::new("lock m, unlock m | r x, w y", "r y | r x, w y", 1);
    assert!(explore(&program, &options, &mut SilentObserver).is_err());
}

#[test]
fn what_always_fails_is_told_from_what_needs_an_order() {
    let kind = |text| explore(&model(text), &auto(0), &mut SilentObserver).unwrap().findings[0].failure.kind;
    assert_eq!(kind("create T2, r x a, assert a == 1, join T2 | T2: w y"), FailureKind::AlwaysFails);
    assert_eq!(kind("create T2, r x a, assert a == 1, join T2 | T2: w x 1"), FailureKind::Assertion);
}
