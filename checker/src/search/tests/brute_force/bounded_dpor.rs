//! Bounded partial-order reduction against brute force: what it reports as covered is exactly what the bound reaches.

use std::collections::BTreeSet;

use proptest::prelude::{Strategy as Generator, prop, prop_assume, proptest};
use proptest::sample::select;

use super::against_oracle::{program, program_without};
use super::oracle::{Class, unfair_oracle};
use super::*;
use crate::hb::hash::HbHash;
use crate::search::tests::brute_force::generated::generated;
use crate::strategy::ReverseSearch;

/// A search within a bound.
type Plan = fn(u32) -> ReverseSearch;

/// The classes and failures that a search visits.
struct Visited {
    classes: BTreeSet<HbHash>,
    failures: BTreeSet<Identity>,
    stats: Stats,
    everything: bool,
}

fn options(bound: u32) -> Options {
    Options {
        strategy: StrategyKind::Dpor,
        max_preemptions: bound,
        max_timeouts: u32::MAX,
        max_schedules: None,
        keep_going: true,
        ..Options::default()
    }
}

fn visited(model: &Model, bound: u32, plan: Plan) -> Visited {
    let options = options(bound);
    let mut observer = SilentObserver;
    let mut search = Search::new(model, &options, &mut observer);
    search.strategy = Box::new(plan(bound));
    assert_eq!(search.search().unwrap(), SearchEnd::Covered);
    let covered = search.strategy.coverage(search.cut);
    assert_eq!(covered.preemptions, Some(bound));
    let failures = search.findings.iter().map(|finding| finding.identity.clone()).collect();
    Visited {
        classes: search.cache.ends(),
        failures,
        stats: search.executor.stats,
        everything: covered.everything,
    }
}

/// Compares up to 3 preemptions, if there are few enough executions for brute force. Returns the numbers of executions that
/// repeat a class, with up to 0, 1, 2, 3 preemptions.
fn compare(text: &str, limit: u64, plan: Plan) -> Option<[u64; 4]> {
    let model = model(text);
    let oracle = unfair_oracle(&model, limit)?;
    let (_, anywhere) = oracle.within(|_| true);
    Some([0, 1, 2, 3].map(|bound| {
        let within: Vec<&Class> =
            oracle.classes.values().filter(|class| class.preemptions <= bound).collect();
        let expected: BTreeSet<HbHash> = within.iter().map(|class| class.hash).collect();
        let in_classes: BTreeSet<Identity> = within.iter().flat_map(|class| class.failures.clone()).collect();
        let Visited { classes, failures, stats, everything } = visited(&model, bound, plan);
        assert_eq!(classes, expected, "to {bound}: {text}");
        assert_eq!(stats.schedules, expected.len() as u64, "to {bound}: {text}");
        assert_eq!(everything, within.len() == oracle.classes.len(), "to {bound}: {text}");
        assert!(failures.is_superset(&in_classes) && failures.is_subset(&anywhere), "to {bound}: {text}");
        stats.redundant
    }))
}

/// The same, and that no class is repeated. Whether there were few enough executions.
fn check(text: &str, limit: u64) -> bool {
    let redundant = compare(text, limit, ReverseSearch::within);
    assert!(redundant.is_none_or(|redundant| redundant == [0; 4]), "{redundant:?}: {text}");
    redundant.is_some()
}

/// Stops a search with up to 3 preemptions after some per cent of its executions: all classes within what it claims have
/// been counted. Whether there were few enough executions.
fn stopped(text: &str, limit: u64, percent: u64) -> bool {
    let model = model(text);
    let Some(oracle) = unfair_oracle(&model, limit) else { return false };
    let all = visited(&model, 3, ReverseSearch::within).stats.executions();
    let options = Options { max_schedules: Some(1 + all * percent / 100), ..options(3) };
    let mut observer = SilentObserver;
    let mut search = Search::new(&model, &options, &mut observer);
    search.strategy = Box::new(ReverseSearch::within(3));
    search.search().unwrap();
    if let Some(covered) = search.strategy.coverage(search.cut).preemptions {
        let within = oracle.classes.values().filter(|class| class.preemptions <= covered);
        let expected: BTreeSet<HbHash> = within.map(|class| class.hash).collect();
        assert!(search.cache.ends().is_superset(&expected), "{percent} of 100, to {covered}: {text}");
    }
    true
}

proptest! {
    #![proptest_config(generated(32))]

    #[test]
    fn exactly_the_classes_within_the_bound_are_visited(text in program()) {
        prop_assume!(check(&text, 3_000));
    }

    /// So that something is left out.
    #[test]
    fn without_unsupported_operations_these_are_the_same(text in program_without(&["timed", "rdlock"])) {
        prop_assume!(check(&text, 6_000));
    }

    #[test]
    fn what_is_claimed_of_a_search_that_was_stopped_is_true(
        text in program_without(&["timed", "rdlock"]),
        part in 0..100_u64,
    ) {
        prop_assume!(stopped(&text, 3_000, part));
    }

    #[test]
    fn what_shows_after_a_preemption_only_makes_no_claim_untrue(text in hiding()) {
        prop_assume!(check(&text, 3_000));
        // If nothing is kept, classes are repeated and none is missed.
        compare(&text, 3_000, ReverseSearch::forgetful);
    }
}

/// Operations that only a thread runs that sees a value that is soon written over; many of them are unruly.
const HIDING: [&str; 14] = [
    "w x 1, w x 0",
    "w x 1, w x 0",
    "w y 1, w y 0",
    "w x 1, w y 1, w x 0, w y 0",
    "wrlock l, w y, wrunlock l",
    "lock m, r y, unlock m",
    "r y, w y 1",
    "if x { rdlock l, r y, rdunlock l }",
    "if y { rdlock l, w y 0, rdunlock l }",
    "if x { rdlock l, rdunlock l } else { wrlock l, wrunlock l }",
    "if x { tryrdlock l, if l { w y 2, rdunlock l } }",
    "if x { timedlock m, if m { w y 1, unlock m } }",
    "if y { lock m, timedwait c m, r x, unlock m }",
    "if x { w y 1, await y y == 2 }",
];

fn hiding() -> impl Generator<Value = String> {
    let thread = prop::collection::vec(select(&HIDING[..]), 1..=3);
    let threads = prop::collection::vec(thread, 2..=4);
    threads.prop_map(|threads| threads.iter().map(|thread| thread.join(", ")).collect::<Vec<_>>().join(" | "))
}

/// The read is asleep once its own schedule has been run, and the schedule that it sleeps in costs a preemption.
#[test]
fn sleep_sets_under_a_bound_would_lose_a_class() {
    assert!(check("r x, w x | r x", 1_000));
}

/// The reading of the lock shows after the value that is written over was left out.
#[test]
fn classes_are_repeated_only_where_more_was_left_out_than_is_kept() {
    let text = "w x 1, w x 0 | r x | w z | r z, if z == 0 { rdlock l, rdunlock l }";
    assert!(check(text, 1_000));
    assert_eq!(compare(text, 1_000, ReverseSearch::forgetful), Some([2, 0, 0, 0]));
}

/// It is not seen before the second thread is left whether it can go on there.
#[test]
fn a_class_is_counted_once_its_cost_is_known() {
    for text in [
        "let s=1 | T1: up s, lock m, w x 2, unlock m, r x | T2: timedlock m, down s",
        "let s=1 | T1: up s, lock n, timedlock m, if m { unlock m }, unlock n, yield, join T2 \
            | T2: yield, lock m, timedwait c m, down s",
    ] {
        assert!(check(text, 3_000), "{text}");
    }
}

/// If the second thread locks `m` late, it can wait without a switch away from the first one, whose time has run out.
#[test]
fn what_lets_nobody_go_may_still_come_late_where_time_runs_out() {
    assert!(check(
        "T1: lock n, timedwait c n, r y, unlock n, signal c | T2: signal c, lock m, timedwait c m",
        30_000
    ));
}

/// The orders of the two threads that conflict cost a preemption or none, but are not all run so; the others leave too many
/// ways to tell.
#[test]
fn where_there_are_too_many_orders_nothing_is_covered() {
    let bystanders: String = (0..18).map(|nth| format!(" | w a{nth}")).collect();
    let text = format!("r x, w x | r x, w x{bystanders}");
    let covered = |bound| all(&text, StrategyKind::BoundedDpor, bound, true).covered.preemptions;
    assert_eq!([0, 1, 2].map(covered), [None, None, Some(2)]);
}

/// Executions of `icb` and of `bounded-dpor` with at most 2 preemptions: the classes, which both find; then of each those
/// that repeat one, and those that were cut or have more preemptions.
#[test]
fn the_two_modes_of_a_bound_run_different_executions() {
    let times = |n: usize, thread: &str| vec![thread; n].join(" | ");
    let eats = |a: &str, b: &str| format!("lock {a}, lock {b}, unlock {b}, unlock {a}");
    let waits = "lock m, wait c m, unlock m, r x";
    let programs = [
        (times(2, "loop 3 { r x, w x }"), 56, (0, 0), (0, 130)),
        (times(3, "loop 2 { r x, w x }"), 360, (0, 0), (0, 1304)),
        (times(4, "r x, w x"), 432, (0, 0), (0, 103)),
        (times(3, "loop 2 { lock m, r x, w x, unlock m }"), 60, (0, 0), (0, 30)),
        (times(5, "lock m, w x, unlock m"), 120, (0, 0), (0, 0)),
        (format!("w x | {}", times(6, "r x")), 64, (129, 191), (0, 0)),
        ("loop 6 { w a } | loop 6 { w b } | loop 6 { w d }".to_owned(), 1, (2, 138), (0, 0)),
        ([eats("a", "b"), eats("b", "d"), eats("d", "e"), eats("e", "a")].join(" | "), 15, (14, 211), (0, 0)),
        ("w x | w y | r x, r y | r y, r x".to_owned(), 15, (9, 17), (0, 0)),
        ("w a | r a, w b | r b, w d | r d, w e | r e".to_owned(), 16, (24, 127), (0, 0)),
        ("let s=0 | loop 3 { w x, up s } | loop 3 { down s, r x } | r x".to_owned(), 46, (13, 21), (0, 10)),
        (
            format!("{waits} | {waits} | lock m, signal c, unlock m, w x, lock m, broadcast c, unlock m"),
            46,
            (30, 15),
            (0, 0),
        ),
    ];
    let expected = programs.each_ref().map(|(text, classes, icb, bounded)| {
        let of = |&(redundant, pruned): &(u64, u64)| (*classes, redundant, pruned);
        (text.as_str(), of(icb), of(bounded))
    });
    let ran = programs.each_ref().map(|(text, ..)| {
        let of = |strategy| {
            let outcome = all(text, strategy, 2, true);
            assert_eq!(outcome.covered.preemptions, Some(2), "{text}");
            let Stats { schedules, redundant, pruned, .. } = outcome.stats;
            (schedules, redundant, pruned)
        };
        (text.as_str(), of(StrategyKind::Icb), of(StrategyKind::BoundedDpor))
    });
    assert_eq!(ran, expected);
}

/// A schedule that was run in an order that costs more than it need is not called the simplest.
#[test]
fn a_finding_is_only_called_simplest_if_it_has_no_preemption() {
    let text = "w x 2, w x 0 | r x, assert x < 2";
    assert!(check(text, 1_000));
    assert_eq!(all(text, StrategyKind::Icb, 2, true).findings.len(), 1);
    let outcome = all(text, StrategyKind::BoundedDpor, 2, true);
    let found: Vec<_> = outcome.findings.iter().map(|found| (found.preemptions, found.fewest)).collect();
    assert_eq!(found, [(Some(1), false)], "{text}");
}

#[test]
fn everything_is_covered_once_nothing_costs_more_than_the_bound() {
    let text = "r x, w x | r x, w x";
    let covered = |bound| all(text, StrategyKind::BoundedDpor, bound, true).covered;
    assert!(!covered(0).everything && covered(1).everything);
    assert_eq!(covered(9).preemptions, Some(9));
}
