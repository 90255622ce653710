//! Random searches: their probabilities, computed where the numbers can be enumerated, sampled where they cannot.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use super::*;
use crate::event::failure::Failure;
use crate::event::names::ThreadName;
use crate::event::position::Position;
use crate::execution::{Limits, RunOutcome, Runner};
use crate::hb::hash::HbHash;
use crate::strategy::{Coverage, Pct, PctVb, Pos, Racing, Random, Rapos, Sample, Sampler, Script, Surw};
use crate::trace::{Trace, TraceStep};

/// A probability in lowest terms.
type Exact = (u128, u128);

fn reduced((above, below): Exact) -> Exact {
    let (mut a, mut b) = (above, below);
    while b > 0 {
        (a, b) = (b, a % b);
    }
    (above / a, below / a)
}

fn sum((a, b): Exact, (c, d): Exact) -> Exact {
    reduced((a * d + c * b, b * d))
}

/// Runs every sequence of random numbers, and adds up the probabilities of what is seen.
fn exactly<K: Ord>(text: &str, sample: &dyn Sample, seen: impl Fn(&Trace) -> K) -> BTreeMap<K, Exact> {
    let model = model(text);
    let mut runner = Runner::new(&model, Limits::of_events(1_000));
    let script = Arc::new(Mutex::new(Script::default()));
    let mut all = BTreeMap::new();
    loop {
        let mut guide = sample.guide(Script::rng(&script));
        let end = runner.run(&[], &mut *guide, &mut || StopRequest::Continue).unwrap();
        assert!(matches!(end, RunOutcome::Completed(_)), "{text}: {end:?}");
        let probability = all.entry(seen(&runner.trace)).or_insert((0, 1));
        *probability = sum(*probability, (1, script.lock().unwrap().one_in()));
        if !script.lock().unwrap().advance() {
            break;
        }
    }
    assert_eq!(all.values().copied().fold((0, 1), sum), (1, 1), "{text}");
    all
}

/// The number of times that each thing is seen in so many schedules of a seed.
fn counted<K: Ord>(
    text: &str,
    sample: impl Sample,
    seed: u64,
    runs: u64,
    seen: impl Fn(&Trace) -> K,
) -> BTreeMap<K, u64> {
    let mut all = BTreeMap::new();
    let mut strategy = Sampler::new(sample, seed);
    let mut count = |trace: &Trace, _: &[Failure]| *all.entry(seen(trace)).or_default() += 1;
    assert_eq!(super::sample(&model(text), &mut strategy, runs, 1_000, &mut count), Ok(runs));
    all
}

/// The deviation that `runs` schedules of something with this probability may have: five standard deviations, more than which
/// happens by chance in one of 1.7 million cases.
fn deviation(runs: u64, probability: f64) -> f64 {
    5.0 * (runs as f64 * probability * (1.0 - probability)).sqrt()
}

fn class(trace: &Trace) -> HbHash {
    trace.hb.state()
}

/// The threads that ran, event by event: A is the main thread.
fn order(trace: &Trace) -> String {
    trace.steps.iter().map(|step| if step.event.id.thread == ThreadName::MAIN { 'A' } else { 'B' }).collect()
}

/// One execution of each of so many seeds, for what it learns.
fn taught<S: Sample>(text: &str, mut sample: S) -> S {
    let model = model(text);
    let mut runner = Runner::new(&model, Limits::of_events(1_000));
    runner.run(&[], &mut crate::strategy::DefaultSchedule, &mut || StopRequest::Continue).unwrap();
    sample.learn(&runner.trace);
    sample
}

/// The running example of the POS paper: thread B's fourth event waits for thread A's third, and the failure takes
/// exactly one order of the ten events.
const RUNNING: &str = "w x, w y, up w, w z | w x, w x, w y, down w, up w, w z";
const FAILING: &str = "BABBAABBBA";

#[test]
fn a_random_walk_finds_the_running_example_with_probability_1_of_128() {
    assert_eq!(exactly(RUNNING, &Random, order)[FAILING], (1, 128));
}

#[test]
fn pct_finds_it_with_the_probability_of_its_bound() {
    // Two threads, ten key points, depth 3: 1/(2 · 10²). No other choice of priorities and change points fails.
    let pct = taught(RUNNING, Pct::new(3));
    assert_eq!(exactly(RUNNING, &pct, order)[FAILING], (1, 200));
}

/// Thread B's two reads see thread A's two writes, each with one of them: after events of their own on another variable.
fn sees_both(trace: &Trace) -> bool {
    let order = order(trace);
    let places = |thread| order.match_indices(thread).map(|(at, _)| at).collect::<Vec<_>>();
    let (writes, reads) = (places('A'), places('B'));
    let [.., first_write, last_write] = writes[..] else { return false };
    let [.., first_read, last_read] = reads[..] else { return false };
    first_write < first_read && first_read < last_write && last_write < last_read
}

#[test]
fn pctvb_finds_what_is_at_one_variable_more_often_than_pct() {
    let text = "loop 10 { w b }, w a 1, w a 2 | loop 10 { w b }, r a, r a";
    // One of two variables, one of two orders, and of its four accesses the two that matter, in one order of twelve.
    let pctvb = taught(text, PctVb::new(3, 1));
    assert_eq!(exactly(text, &pctvb, sees_both)[&true], (1, 48));
    // Two threads, 24 key points, depth 3: 1/(2 · 24²).
    let pct = taught(text, Pct::new(3));
    assert_eq!(exactly(text, &pct, sees_both)[&true], (1, 1152));
}

#[test]
fn pos_finds_it_with_probability_1_of_48() {
    let runs = 48_000;
    for racing in [Racing::SameObject, Racing::Conflicts] {
        let found = counted(RUNNING, Pos::new(racing), 1, runs, order)[FAILING];
        assert!(
            (found as f64 - 1000.0).abs() <= deviation(runs, 1.0 / 48.0),
            "{racing:?}: {found} of {runs}"
        );
    }
    // Without fresh priorities, what is to come late has to be late for good.
    let basic = counted(RUNNING, Pos::new(Racing::Nothing), 1, runs, order).get(FAILING).copied();
    assert!(basic.unwrap_or(0) < 500, "{basic:?}");
}

/// The number of races of an execution of threads that never wait for one another: pairs of conflicting events that could
/// both have been next.
fn races(trace: &Trace) -> usize {
    let steps = &trace.steps;
    let mut races = 0;
    for (later, step) in steps.enumerate() {
        let event = &step.event;
        let own = steps.rposition_before(later, |step| step.event.id.thread == event.id.thread);
        let is_race = |(earlier, other): &(Position, &TraceStep)| {
            let other = &other.event;
            other.id.thread != event.id.thread
                && other.did.conflicts(&event.did)
                && own.is_none_or(|own| !trace.hb.ordered(*earlier, own))
        };
        races += steps.between(Position::START, later).filter(is_race).count();
    }
    races
}

/// Theorem 1 of the POS paper: a partial order of V events with D races of a program with P threads is sampled with
/// probability (1/P)^V · R^U or more, where R = P·V/(V + D) and U = (V − ⌈D/(P − 1)⌉)/2.
fn theorem_1(events: usize, races: usize, threads: usize) -> f64 {
    assert!(races <= events * (threads - 1));
    let (v, d, p) = (events as f64, races as f64, threads as f64);
    let u = (v - (d / (p - 1.0)).ceil()) / 2.0;
    p.recip().powf(v) * (p * v / (v + d)).powf(u)
}

#[test]
fn pos_samples_no_partial_order_more_rarely_than_its_theorem_says() {
    let runs = 20_000;
    for (text, threads) in [
        ("w x, w y | w x, w y", 2),
        ("w x, w x | w x, w x", 2),
        ("w x, w y, w z | w z, w y, w x", 2),
        ("w x, w y | w y, w z | w z, w x", 3),
        ("w x, w x | w x | w x", 3),
        ("w x, w a, w b | w y, w c, w x", 2),
        ("w x | w x | w x | w x", 4),
    ] {
        let key = |trace: &Trace| (class(trace), trace.steps.len(), races(trace));
        let seen = counted(text, Pos::new(Racing::SameObject), 2, runs, key);
        let classes = all(text, StrategyKind::Dfs, 0, true).stats.schedules;
        assert_eq!(seen.len() as u64, classes, "{text}: not every partial order was sampled");
        for ((_, events, races), count) in seen {
            let least = theorem_1(events, races, threads);
            let expected = runs as f64 * least;
            assert!(count as f64 >= expected - deviation(runs, least), "{text}: {count} of {runs}, {least}");
        }
    }
}

#[test]
fn surw_makes_the_interleavings_of_a_variable_equally_likely() {
    for (text, interleavings) in [
        // 6!/(3! 2! 1!).
        ("w x, w x, w x | w x, w x | w x", 60),
        // The events on other variables do not show.
        ("w x, r a, r a, r a, w x | w x, w x", 6),
        // T2's two events come anywhere after the creation; T3's one after the first event of the main thread.
        ("create T2, w x, create T3, w x | T2: w x, w x | T3: w x", 20),
    ] {
        let surw = taught(text, Surw::default());
        let all = exactly(text, &surw, class);
        assert!(all.values().all(|&probability| probability == (1, interleavings)), "{text}: {all:?}");
        assert_eq!(all.len() as u128, interleavings, "{text}");
    }
    // A random walk does not: thread 1 can only be overtaken.
    assert!(
        exactly("w x, w x, w x | w x", &Random, class).values().any(|&probability| probability != (1, 4))
    );
}

#[test]
fn surw_gives_each_variable_its_turn_and_lets_nobody_wait_for_ever() {
    // Three variables and a lock; the thread that is held before it can be the one that has to go on.
    let text = "lock m, r x, w x x+1, unlock m, w y | lock m, r x, w x x+1, unlock m, w z | w z, w y";
    let classes = all(text, StrategyKind::Dfs, 0, true).stats.schedules;
    let seen = counted(text, Surw::default(), 3, 5_000, class);
    assert_eq!(seen.len() as u64, classes);
}

#[test]
fn rapos_considers_only_what_depends_on_what_ran() {
    // The first batch has thread 2 with probability 3/4. If not, nothing that thread 1 does depends on it in time.
    let text = "w a, w a, w x | w x";
    let last = |trace: &Trace| trace.steps.last().map(|step| step.event.id.thread == ThreadName::MAIN);
    let first = |trace: &Trace| {
        let own = |name| trace.steps.rposition(|step| step.event.id.thread == name);
        own(ThreadName::MAIN) < own(ThreadName::MAIN.child(1).unwrap())
    };
    assert_eq!(exactly(text, &Rapos, first)[&true], (1, 4));
    assert_eq!(exactly(text, &Random, first)[&true], (1, 8));
    assert_eq!(exactly("w x | w x", &Rapos, last)[&Some(true)], (1, 2));
}

#[test]
fn rapos_samples_every_class() {
    let text = "r x, w x | r x, w x | r y, w x";
    let classes = all(text, StrategyKind::Dfs, 0, true).stats.schedules;
    assert_eq!(exactly(text, &Rapos, class).len() as u64, classes);
}

const RANDOM: [StrategyKind; 6] = [
    StrategyKind::Random,
    StrategyKind::Pct,
    StrategyKind::Pos,
    StrategyKind::BasicPos,
    StrategyKind::Rapos,
    StrategyKind::Surw,
];

#[test]
fn random_searches_find_and_reproduce_and_cover_nothing() {
    let text =
        "create T2, create T3, join T2, join T3, r x, assert x == 2 | T2: r x, w x x+1 | T3: r x, w x x+1";
    for strategy in RANDOM {
        for seed in 0..20 {
            let options = Options { strategy, seed, max_schedules: Some(200), ..Options::default() };
            let outcome = explore(&model(text), &options, &mut SilentObserver).unwrap();
            assert_eq!(outcome.ended, SearchEnd::FirstBug, "{strategy:?} {seed}");
            assert_eq!(outcome.findings[0].reproduced, (2, 2));
            assert_eq!(outcome.covered, Coverage::default());
        }
        let options = Options { strategy, max_schedules: Some(200), ..Options::default() };
        let outcome = explore(&model("r x, w x | r x, w x"), &options, &mut SilentObserver).unwrap();
        let Stats { schedules, redundant, pruned, .. } = outcome.stats;
        assert_eq!((schedules, schedules + redundant, pruned), (4, 200, 0), "{strategy:?}");
        assert_eq!((outcome.ended, outcome.covered), (SearchEnd::Budget, Coverage::default()));
        assert!(strategy.promise().is_some());
    }
}

#[test]
fn one_seed_is_one_search() {
    let text = "lock m, timedwait c m, unlock m, yield, r x, w y | r x, lock m, signal c, unlock m, w x | r x, yield, w y";
    for strategy in RANDOM {
        let orders = |seed| {
            let options = Options { strategy, seed, ..Options::default() };
            let mut orders = Vec::new();
            let mut plan = strategy.plan(&options).0;
            let mut keep = |trace: &Trace, _: &[Failure]| orders.push(trace.schedule());
            sample(&model(text), &mut *plan, 50, 1_000, &mut keep).unwrap();
            orders
        };
        assert_eq!(orders(7), orders(7), "{strategy:?}");
        assert_ne!(orders(7), orders(8), "{strategy:?}");
    }
}

#[test]
fn random_searches_end_where_threads_only_wait_for_each_other() {
    // No thread is starved: a loop that yields lets the other one go, by whatever priorities.
    let text = "r x, while x == 0 { yield, r x } | yield, yield, w x";
    for strategy in RANDOM {
        let options = Options { strategy, max_schedules: Some(500), step_limit: 200, ..Options::default() };
        let outcome = explore(&model(text), &options, &mut SilentObserver).unwrap();
        assert_eq!((outcome.findings.len(), outcome.stats.pruned), (0, 0), "{strategy:?}");
    }
}
