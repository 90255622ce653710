//! Every search against brute force, on random programs.

use std::collections::BTreeSet;

use proptest::prelude::{Just, Strategy as Generator, prop, prop_assume, prop_oneof, proptest};
use proptest::sample::select;

use super::oracle::{Class, Oracle, oracle, oracle_with};
use super::*;
use crate::hb::hash::HbHash;
use crate::search::tests::brute_force::generated::generated;
use crate::strategy::{Coverage, Frontier, Preemptions, Strategy};

/// The parts that threads are made of.
const SNIPPETS: [&str; 32] = [
    "r x",
    "w x",
    "w y x+1",
    "r y",
    "w x x+1",
    "add x",
    "cas x 0 1",
    "cas x 1 2",
    "if x { w y 2 } else { r y }",
    "assert x < 2",
    "lock m, w x 2, unlock m",
    "lock m, r x, unlock m",
    "lock m, lock n, unlock n, unlock m",
    "lock n, lock m, unlock m, unlock n",
    "lock n, timedlock m, if m { unlock m }, unlock n",
    "lock m, timedlock n, if n { unlock n }, unlock m",
    "lock m",
    "unlock m",
    "trylock m, if m { unlock m }",
    "timedlock m, if m { unlock m }",
    "lock m, wait c m, unlock m",
    "lock m, timedwait c m, unlock m",
    "signal c",
    "broadcast c",
    "lock m, r x, if x == 0 { wait c m }, unlock m",
    "down s",
    "up s",
    "trydown s",
    "rdlock l, r x, rdunlock l",
    "wrlock l, w x, wrunlock l",
    "bar b 2",
    "yield",
];

/// The last ones: they stand alone more rarely.
const RARE: [&str; 6] =
    ["await x", "await y y>1", "sleep, r x", "tryrdlock l, if l { rdunlock l }", "exit", "trywrlock l"];

/// Parts that make others wait for time and for turns.
const WAITING: [&str; 6] = [
    "yield, yield, r x",
    "sleep, w x, sleep",
    "timedlock m",
    "w y, timedlock m, yield",
    "lock m, timedwait c m",
    "lock n, timedwait c n, r y, unlock n, signal c",
];

/// The way in which threads begin and are waited for.
#[derive(Clone, Copy, Debug)]
enum Family {
    /// All start with the program; some wait for the end of others.
    Siblings,
    /// Each is created by one before it, and perhaps joined by that one.
    Tree,
}

pub(crate) fn program() -> impl Generator<Value = String> {
    program_of(prop_oneof![8 => select(&SNIPPETS[..]), 1 => select(&WAITING[..]), 1 => select(&RARE[..])])
}

/// Programs whose threads are made of these snippets, none of which is to hold one of these words.
pub(crate) fn program_without(words: &'static [&'static str]) -> impl Generator<Value = String> {
    let all = SNIPPETS.iter().chain(&WAITING).chain(&RARE).copied();
    let is_free = |snippet: &&str| !words.iter().any(|word| snippet.contains(word));
    program_of(select(all.filter(is_free).collect::<Vec<_>>()))
}

fn program_of(snippet: impl Generator<Value = &'static str>) -> impl Generator<Value = String> {
    let thread = (prop::collection::vec(snippet, 1..=3), prop::array::uniform4(0..64_usize));
    let family = prop_oneof![Just(Family::Siblings), Just(Family::Tree)];
    (family, prop::collection::vec(thread, 2..=4)).prop_map(|(family, threads)| {
        let mut bodies: Vec<Vec<String>> =
            threads.iter().map(|(own, _)| own.iter().map(|s| s.to_string()).collect()).collect();
        for (nth, (_, [parent, at, joins, join_at])) in threads.iter().enumerate().skip(1) {
            let name = format!("T{}", nth + 1);
            let parent = match family {
                Family::Siblings => (nth + parent % (threads.len() - 1) + 1) % threads.len(),
                Family::Tree => parent % nth,
            };
            let body = &mut bodies[parent];
            let mut at = at % (body.len() + 1);
            if let Family::Tree = family {
                body.insert(at, format!("create {name}"));
                at += 1;
            }
            if joins % 2 == 0 {
                let after = at + join_at % (body.len() - at + 1);
                body.insert(after, format!("join {name}"));
            }
        }
        let threads =
            bodies.iter().enumerate().map(|(nth, body)| format!("T{}: {}", nth + 1, body.join(", ")));
        format!("let s=1 | {}", threads.collect::<Vec<_>>().join(" | "))
    })
}

/// The classes and failures that a search visits, and the number of its executions.
#[derive(PartialEq, Debug)]
struct Visited {
    classes: BTreeSet<HbHash>,
    failures: BTreeSet<Identity>,
    executions: u64,
}

fn visited(model: &Model, strategy: StrategyKind, bound: u32, cache: bool) -> Visited {
    let options = to_the_end(strategy, bound, Options::default().max_yields);
    visited_by(model, strategy.plan(&options).0, &Options { cache, ..options }).0
}

fn to_the_end(strategy: StrategyKind, bound: u32, max_yields: u32) -> Options {
    Options {
        strategy,
        max_preemptions: bound,
        max_delays: bound,
        max_yields,
        max_schedules: None,
        keep_going: true,
        ..Options::default()
    }
}

fn visited_by(model: &Model, plan: Box<dyn Strategy>, options: &Options) -> (Visited, Coverage) {
    let mut observer = SilentObserver;
    let mut search = Search::new(model, options, &mut observer);
    search.strategy = plan;
    assert_eq!(search.search().unwrap(), SearchEnd::Covered);
    let classes = search.cache.ends();
    assert_eq!(search.executor.stats.schedules, classes.len() as u64);
    let failures = search.findings.iter().map(|finding| finding.identity.clone()).collect();
    let covered = search.strategy.coverage(search.cut);
    (Visited { classes, failures, executions: search.executor.stats.executions() }, covered)
}

/// Checks that the part of all schedules that is called covered was visited, whatever turns are taken.
fn check_covered(covered: Coverage, visited: &Visited, unfair: &Oracle, text: &str) {
    let whole =
        |bound: u32| covered.in_turns_from.map_or(Some(bound), |from| from.min(bound + 1).checked_sub(1));
    let [preemptions, delays] = [covered.preemptions, covered.delays].map(|bound| bound.and_then(whole));
    assert!(!covered.everything || covered.in_turns_from.is_none());
    let is_covered = |class: &Class| {
        covered.everything
            || preemptions.is_some_and(|most| class.preemptions <= most)
            || delays.is_some_and(|most| class.delays <= most)
    };
    assert!(unfair.within(is_covered).0.is_subset(&visited.classes), "{covered:?}: {text}");
}

fn check(text: &str) -> bool {
    check_with(text, 1)
}

/// Compares, if there are few enough executions for brute force, where a thread is let past so many yields in a row.
fn check_with(text: &str, max_yields: u32) -> bool {
    let model = model(text);
    let Some(oracle) = oracle_with(&model, 1, max_yields, 3_000) else { return false };
    let unfair = oracle_with(&model, 1, u32::MAX, 10_000);
    let hashes: BTreeSet<HbHash> = oracle.classes.values().map(|class| class.hash).collect();
    assert_eq!(hashes.len(), oracle.classes.len(), "two classes have one hash: {text}");
    let compare = |strategy, bound, within: &dyn Fn(&Class) -> bool| {
        let (classes, failures) = oracle.within(within);
        for cache in [true, false] {
            let options = to_the_end(strategy, bound, max_yields);
            let (got, covered) = visited_by(&model, strategy.plan(&options).0, &Options { cache, ..options });
            if let Some(unfair) = &unfair {
                check_covered(covered, &got, unfair, text);
            }
            // Without the cache each execution is run exactly once.
            let all =
                oracle.executions.iter().filter(|&(&cost, _)| strategy != StrategyKind::Icb || cost <= bound);
            let all = all.map(|(_, count)| count).sum();
            let exact = !cache && strategy != StrategyKind::Idb;
            assert!(if exact { got.executions == all } else { got.executions <= all }, "{strategy:?} {text}");
            let Visited { executions, .. } = got;
            let expected = Visited { classes: classes.clone(), failures: failures.clone(), executions };
            assert_eq!(got, expected, "{strategy:?} to {bound}, cache {cache}: {text}");
        }
    };
    compare(StrategyKind::Dfs, 0, &|_| true);
    for bound in 0..=3 {
        compare(StrategyKind::Icb, bound, &|class| class.preemptions <= bound);
        compare(StrategyKind::Idb, bound, &|class| class.delays <= bound);
        let plan = Box::new(Frontier::with_fairness_threshold(Preemptions { max: bound }, 1));
        let (classes, failures) = oracle.within(|class| class.preemptions <= bound);
        let (got, _) = visited_by(&model, plan, &to_the_end(StrategyKind::Icb, bound, max_yields));
        assert_eq!((got.classes, got.failures), (classes, failures), "in turns to {bound}: {text}");
    }
    true
}

proptest! {
    #![proptest_config(generated(32))]

    #[test]
    fn every_search_visits_exactly_the_classes_within_its_bound(text in program(), max_yields in 1..=2_u32) {
        prop_assume!(check_with(&text, max_yields));
    }
}

/// Programs that were found to be hard.
#[test]
fn what_once_went_wrong_stays_right() {
    // A thread whose timed wait runs out goes on as if it had never been left.
    assert!(check("lock m, w x 2, unlock m | w y x+1, timedlock m, if m { unlock m }, unlock m"));
    // Two threads fail in one execution.
    assert!(check("unlock m | unlock m"));
    // Two circles that only time-outs break, one after the other.
    assert!(check(
        "lock n, timedlock m, if m { unlock m }, unlock n \
         | lock m, lock n, timedlock m, if m { unlock m }, unlock n, lock m, w x 2, unlock m"
    ));
    // A failure after such a circle.
    assert!(check(
        "lock m, timedlock n, if n { unlock n }, unlock m, unlock m | lock n, lock m, unlock m, unlock n"
    ));
}

/// Programs with which more could be left out than is sound. Each of them says what would be lost.
#[test]
fn nothing_is_lost_to_what_a_cache_could_wrongly_leave_out() {
    // The thread that joins goes first, and then nothing else is tried. But T2 is at an end then: T1 does not wait for it any
    // more, and cannot be left for nothing between its write and its read.
    assert!(check("T1: r a, w e, join T2, r e | T2: join T3 | T3: w a | T4: w e"));
    // The same where no thread is at an end, but main's join lets T3 be left after its time-out.
    assert!(check(
        "join T2, join T3 | T2: w a | T3: r a, lock m, timedwait c m, unlock m, r x | T4: signal c, w x"
    ));
    // Here main's join lets T3 go on past its second yield.
    assert!(check("join T2, join T3 | T2: w a | T3: r a, yield, yield, r x | T4: w x"));
}

/// A failure that takes going on past more yields than a thread is let past, and no preemption.
#[test]
fn what_takes_going_on_past_many_yields_is_not_called_covered() {
    let text = |yields: usize| format!("{}r x, assert x == 1 | w x 1", "yield, ".repeat(yields));
    let few = Options::default().max_yields as usize;
    for strategy in [StrategyKind::Dfs, StrategyKind::Icb, StrategyKind::Idb] {
        // The first yield comes after nothing of the thread's own.
        for (yields, is_found) in [(few + 1, true), (few + 2, false)] {
            let outcome = all(&text(yields), strategy, 20, true);
            let covered = outcome.covered;
            assert_eq!((outcome.findings.len(), covered.everything), (usize::from(is_found), is_found));
            // Each time the other thread is passed over is a delay.
            let from = if strategy == StrategyKind::Idb { few as u32 - 1 } else { 0 };
            assert_eq!(covered.in_turns_from, (!is_found).then_some(from), "{strategy:?}, {yields} yields");
        }
    }
    // dpor goes past any number of them.
    let outcome = all(&text(few + 2), StrategyKind::Auto, 20, true);
    assert!(outcome.covered.everything && outcome.findings.len() == 1);
}

#[test]
fn a_bound_below_what_others_had_to_be_let_go_for_is_covered_for_all_schedules() {
    // It takes a preemption to leave the second thread between its writes, and to see the one without the other.
    let text = "r a, r b, while a > b { yield, r b } | w a, w b";
    let outcome = all(text, StrategyKind::Icb, 2, true);
    assert_eq!((outcome.covered.preemptions, outcome.covered.in_turns_from), (Some(2), Some(1)));
}

/// The smallest program on which the happens-before hash alone, as key of the cache, loses classes.
#[test]
fn the_hash_alone_as_key_would_lose_half_the_classes() {
    let text = "r x, w x | r x, w x | w y, w x";
    assert!(check(text));
    assert_eq!(visited(&model(text), StrategyKind::Icb, 1, true).classes.len(), 18);
}

fn choose(n: u64, k: u64) -> u64 {
    (0..k).fold(1, |product, i| product * (n - i) / (i + 1))
}

/// Theorem 1 of the ICB paper: at most C(nk, c)·(nb + c)! executions of n threads of k steps, b of them blocking, have c
/// preemptions, where the end of a thread counts as a blocking step.
#[test]
fn there_are_no_more_executions_than_the_theorem_says() {
    let programs = [
        ("r x, w x | r x, w x", 2, 3, 1),
        ("r x, w x | r x, w x | r y, w x", 3, 3, 1),
        ("loop 4 { add x } | loop 4 { add x }", 2, 5, 1),
        ("lock m, w x, unlock m | lock m, w x, unlock m", 2, 4, 2),
        ("lock a, lock b, unlock b, unlock a | lock b, lock a, unlock a, unlock b", 2, 5, 3),
    ];
    for (text, n, k, b) in programs {
        let counted = oracle(&model(text), 0, u64::MAX).unwrap().executions;
        let factorial = |n: u64| (1..=n).product::<u64>();
        for bound in 0..=3 {
            let executions = counted.range(..=bound).map(|(_, count)| count).sum::<u64>();
            let theorem: u64 = (0..=u64::from(bound)).map(|c| choose(n * k, c) * factorial(n * b + c)).sum();
            assert!(executions <= theorem, "{text}: {executions} > {theorem} with {bound} preemptions");
            let found = visited(&model(text), StrategyKind::Icb, bound, false).executions;
            assert_eq!(found, executions, "{text} with {bound} preemptions");
        }
    }
}
