//! Partial-order reduction against brute force: each class of executions once, and nothing else.

use std::collections::BTreeSet;

use proptest::prelude::{Strategy as Generator, prop, prop_assume, proptest};
use proptest::sample::select;

use super::against_oracle::program;
use super::oracle::unfair_oracle;
use super::*;
use crate::cache::Cache;
use crate::execution::{Limits, Runner};
use crate::hb::hash::HbHash;
use crate::search::tests::brute_force::generated::generated;
use crate::strategy::{Next, ReverseSearch, Strategy, WakeupTrees};

/// The classes and failures that a search visits.
struct Visited {
    classes: BTreeSet<HbHash>,
    failures: BTreeSet<Identity>,
    stats: Stats,
}

fn visited(model: &Model, plan: Box<dyn Strategy>) -> Visited {
    visited_within(model, plan, None).unwrap()
}

/// `None` if more executions than these are needed.
fn visited_within(model: &Model, plan: Box<dyn Strategy>, most: Option<u64>) -> Option<Visited> {
    let options = Options {
        strategy: StrategyKind::Dpor,
        max_timeouts: u32::MAX,
        max_schedules: most,
        keep_going: true,
        ..Options::default()
    };
    let mut observer = SilentObserver;
    let mut search = Search::new(model, &options, &mut observer);
    search.strategy = plan;
    match search.search().unwrap() {
        SearchEnd::Budget => return None,
        ended => assert_eq!(ended, SearchEnd::Covered),
    }
    assert!(search.strategy.coverage(search.cut).everything);
    let failures = search.findings.iter().map(|finding| finding.identity.clone()).collect();
    Some(Visited { classes: search.cache.ends(), failures, stats: search.executor.stats })
}

/// With time limits, the wakeup trees miss a class of some programs: see there.
fn is_beyond_wakeup_trees(text: &str) -> bool {
    text.contains("timed")
}

/// Compares, if there are few enough executions for brute force; returns the number of those begun that led nowhere.
fn compare(text: &str, limit: u64) -> Option<u64> {
    let model = model(text);
    let oracle = unfair_oracle(&model, limit)?;
    let expected: BTreeSet<HbHash> = oracle.classes.values().map(|class| class.hash).collect();
    // Circles that only time-outs break belong to moments and not to classes: not every one need be passed through.
    let in_classes = oracle.classes.values().flat_map(|class| class.failures.clone()).collect();
    let (_, anywhere) = oracle.within(|_| true);
    let got = visited(&model, Box::new(ReverseSearch::new()));
    assert_eq!(got.classes, expected, "{text}");
    assert_eq!((got.stats.schedules, got.stats.redundant), (expected.len() as u64, 0), "{text}");
    assert!(got.failures.is_superset(&in_classes) && got.failures.is_subset(&anywhere), "{text}");
    if !is_beyond_wakeup_trees(text) {
        let wakeup_trees = visited(&model, Box::new(WakeupTrees::new()));
        assert_eq!(wakeup_trees.classes, expected, "wakeup trees: {text}");
    }
    Some(got.stats.pruned)
}

/// This many classes, and no execution that leads nowhere.
fn check(text: &str, classes: u64) {
    assert_eq!(compare(text, 100_000), Some(0), "{text}");
    let got = visited(&model(text), Box::new(ReverseSearch::new()));
    assert_eq!((got.stats.schedules, got.stats.redundant), (classes, 0), "{text}");
}

proptest! {
    #![proptest_config(generated(32))]

    #[test]
    fn each_class_is_visited_once(text in program()) {
        let pruned = compare(&text, 3_000);
        prop_assume!(pruned.is_some());
        // Only whether a semaphore can be had elsewhere has to be tried, and what readers put before a writer leads to.
        let tries = ["down", "rdlock"].iter().any(|word| text.contains(word));
        assert!(pruned == Some(0) || tries, "{text}: {pruned:?} executions led nowhere");
    }

    /// On programs that are too large for brute force.
    #[test]
    fn both_searches_visit_the_same_classes(text in program()) {
        prop_assume!(!is_beyond_wakeup_trees(&text));
        let model = model(&text);
        let wakeup_trees = visited_within(&model, Box::new(WakeupTrees::new()), Some(2_000));
        prop_assume!(wakeup_trees.is_some());
        let got = visited(&model, Box::new(ReverseSearch::new()));
        assert!(wakeup_trees.is_some_and(|other| got.classes == other.classes), "{text}");
        assert_eq!(got.stats.redundant, 0, "{text}");
    }

    /// Readers of one lock commute, and all of them keep a writer out.
    #[test]
    fn no_class_of_readers_and_writers_is_missed(text in readers_and_writers()) {
        prop_assume!(compare(&text, 1_000).is_some());
    }
}

/// The parts that readers and writers are made of.
const LOCKING: [&str; 10] = [
    "rdlock l, rdunlock l",
    "wrlock l, wrunlock l",
    "rdlock k, rdunlock k",
    "wrlock k, wrunlock k",
    "rdlock l, wrlock k, wrunlock k, rdunlock l",
    "wrlock l, rdlock k, rdunlock k, wrunlock l",
    "rdlock k, rdlock l, rdunlock l, rdunlock k",
    "rdlock k, wrlock l, wrunlock l, rdunlock k",
    "tryrdlock l, if l { rdunlock l }",
    "trywrlock k, if k { wrunlock k }",
];

fn readers_and_writers() -> impl Generator<Value = String> {
    let thread = prop::collection::vec(select(&LOCKING[..]), 1..=3);
    let threads = prop::collection::vec(thread, 2..=3);
    threads.prop_map(|threads| threads.iter().map(|thread| thread.join(", ")).collect::<Vec<_>>().join(" | "))
}

/// The most events that are kept at any time, the most events that an execution has, and the number of classes.
fn kept(text: &str) -> (usize, usize, usize) {
    let model = model(text);
    let limits = Limits { timeouts: u32::MAX, ..Limits::of_events(1_000) };
    let (mut plan, mut runner, cache) = (ReverseSearch::new(), Runner::new(&model, limits), Cache::new(None));
    let (mut most, mut longest) = (0, 0);
    while let Next::Work(item) = plan.next(&cache) {
        let mut guide = plan.guide(&item, &cache);
        runner.run(&item.prefix, &mut *guide, &mut || StopRequest::Continue).unwrap();
        let notes = guide.notes();
        cache.end(runner.trace.hb.state());
        longest = longest.max(runner.trace.steps.len());
        plan.learn(&item, &runner.trace, notes, &cache);
        most = most.max(plan.stored());
    }
    (most, longest, cache.ends().len())
}

#[test]
fn what_is_kept_is_polynomial_in_the_length_of_an_execution() {
    for readers in [7, 11] {
        let text = format!("w x{}", " | r x".repeat(readers));
        let (most, longest, classes) = kept(&text);
        assert_eq!((longest, classes), (readers + 1, 1 << readers), "{text}");
        assert!(most <= longest.pow(3), "{text}: {most} events are kept, of {longest} in an execution");
    }
}

/// With a cache only one of these classes would be left: what is reached after the race was reversed has been entered.
#[test]
fn a_cache_would_lose_a_class() {
    assert!(StrategyKind::Dpor.plan(&Options::default()).1.is_none());
    check("r x | r y, w x", 2);
}

/// Sleep sets would lose one of these classes without a preemption: what is asleep was cut in the execution before.
#[test]
fn sleep_sets_under_a_bound_would_lose_a_class() {
    let text = "r x, w x | r x";
    assert_eq!(all(text, StrategyKind::Icb, 0, true).stats.schedules, 2);
    check(text, 2);
}

#[test]
fn a_lock_is_reversed_with_the_lock_before_it() {
    check("lock a, lock b, unlock b, unlock a | lock b, lock a, unlock a, unlock b", 3);
    check("lock m, unlock m | lock m, unlock m | lock m, unlock m", 6);
    check("lock m, unlock m | lock m, unlock m | trylock m, if m { unlock m }", 10);
}

#[test]
fn a_writer_comes_before_any_set_of_readers() {
    check("wrlock l, wrunlock l | rdlock l, rdunlock l | rdlock l, rdunlock l", 4);
    // Each reader keeps its lock until the other one has its own: the writer comes before both or after both. With the
    // second one put there, nothing can run without the first one.
    let text =
        "wrlock l, wrunlock l | rdlock l, w x, await y, rdunlock l | rdlock l, w y, await x, rdunlock l";
    assert_eq!(compare(text, 100_000), Some(1));
    // A failed attempt to write-lock is between the reader's two events.
    check("trywrlock l | rdlock l, r x, rdunlock l", 3);
}

#[test]
fn readers_that_come_late_are_put_before_a_writer_in_one_order() {
    let reader = |m: &str| format!("lock {m}, unlock {m}, rdlock k, rdunlock k");
    check(&format!("wrlock k, wrunlock k | {} | {}", reader("m"), reader("n")), 4);
    let reader = |m: &str| format!("wrlock {m}, wrunlock {m}, rdlock k, rdunlock k");
    check(&format!("wrlock k, wrunlock k | {} | {}", reader("m"), reader("n")), 4);
    // One of the readers comes by itself when the other one has been put there.
    check(
        "wrlock k, wrunlock k | wrlock l, wrunlock l, rdlock k, rdlock l, rdunlock l, rdunlock k \
         | wrlock l, rdlock k, rdunlock k, wrunlock l",
        9,
    );
    // If one of the readers has to come as well, another order of the other lock is still to be seen.
    let text = "wrlock k, wrunlock k | wrlock l, rdlock k, rdunlock k, wrunlock l \
                | rdlock k, rdlock l, rdunlock l, rdunlock k";
    assert_eq!(compare(text, 100_000), Some(1));
    // The children of such an execution are seen from it, and from no other one.
    for text in [
        "wrlock k | wrlock l, rdlock k, rdunlock k, wrunlock l, wrlock l | rdlock k, rdlock l",
        "wrlock l, rdlock k | wrlock k | rdlock k, rdlock l",
    ] {
        assert_eq!(compare(text, 100_000), Some(1), "{text}");
    }
}

#[test]
fn what_is_known_of_a_semaphore_keeps_traces_from_being_repeated() {
    // The two units are seen while the first thread waits; that there is never less than none is known.
    check("let s=2 | T1: down s | T2: trydown s, up s", 3);
    check("let s=1 | T1: create T2, r x, up s, up s | T2: create T3, join T3, r x | T3: down s", 3);
}

#[test]
fn a_thread_that_has_nothing_to_do_is_joined_at_once() {
    check("T1: join T2, w x 2 | T2: assert x < 2 | T3: w x 1", 2);
}

#[test]
fn whom_a_signal_wakes_is_tried_both_ways() {
    let waits = "lock m, wait c m, unlock m";
    let text = format!("{waits} | {waits} | lock m, signal c, signal c, unlock m");
    let model = model(&text);
    let classes = unfair_oracle(&model, 100_000).unwrap().classes.len() as u64;
    check(&text, classes);
}

#[test]
fn who_belongs_to_a_barriers_generation_depends_on_the_order() {
    check("bar b 2 | bar b 2 | bar b 2", 3);
    check("bar b 2, bar b 2 | bar b 2, bar b 2", 1);
}

#[test]
fn time_runs_out_before_or_after() {
    // Never, between lock and unlock, and the lock after the unlock.
    let outcome = all("lock m, unlock m | timedlock m, if m { unlock m }", StrategyKind::Dpor, 0, true);
    assert_eq!(outcome.stats.schedules, 3);
    assert!(compare("lock m, unlock m | timedlock m, if m { unlock m }", 1_000).is_some());
    // A thread waits for what it holds itself; the other one releases what it does not hold, at any time.
    assert!(compare("unlock m | lock m, timedlock m", 1_000).is_some());
    // No thread holds the lock yet when the time limit is reached, but one could.
    assert!(compare(
        "r x, create T2, lock m, timedlock n, if n { unlock n }, unlock m, join T2 | T2: create T3, join T3, r x \
         | T3: lock n, lock m, unlock m, unlock n",
        20_000
    )
    .is_some());
}

#[test]
fn two_waiters_and_one_signal() {
    let text =
        "let s=1 | T1: lock m, wait c m, unlock m, join T3 | T2: signal c | T3: lock m, wait c m, unlock m";
    assert_eq!(compare(text, 100_000), Some(0));
}

#[test]
fn a_reader_that_fails_to_swap_comes_before_or_after_others() {
    // The swap succeeds in some of the orders, which then order it with the reader.
    assert_eq!(compare("w x x+1, r x | cas x 1 2, r x | r x", 100_000), Some(0));
    assert_eq!(compare("cas x 1 2 | cas x 1 2 | w x, r x", 100_000), Some(0));
    // Before the write it fails, and each reader is on either side of the write; after it there are three places for each.
    check("w x | r x | r x | cas x 1 2", 13);
}

#[test]
fn some_readers_come_before_a_writer_and_some_after_it() {
    let reader = "rdlock l, r x, rdunlock l";
    check(&format!("wrlock l, w x, wrunlock l | {reader} | {reader} | {reader}"), 8);
    assert_eq!(
        compare("wrlock l, wrunlock l | rdlock l, await y, rdunlock l | rdlock l, rdunlock l, w y", 100_000),
        Some(0)
    );
}
