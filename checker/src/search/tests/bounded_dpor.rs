//! Bounded partial-order reduction against brute force: what it reports as covered is exactly what the bound reaches.

use std::collections::BTreeSet;

use proptest::prelude::{ProptestConfig, prop_assume, proptest};

use super::against_oracle::program;
use super::oracle::oracle;
use super::*;
use crate::hash::HbHash;

/// The classes that are visited, and the failures.
fn visited(model: &Model, bound: u32) -> (BTreeSet<HbHash>, BTreeSet<Identity>, Stats) {
    let options = Options {
        strategy: StrategyKind::BoundedDpor,
        max_preemptions: bound,
        max_schedules: None,
        keep_going: true,
        ..Options::default()
    };
    let mut observer = Patient;
    let mut search = Search::new(model, &options, &mut observer);
    assert_eq!(search.search().unwrap(), Ended::Covered);
    assert_eq!(search.strategy.coverage(search.cut).preemptions, Some(bound));
    let failures = search.findings.iter().map(|finding| finding.identity.clone()).collect();
    (search.cache.ends(), failures, search.stats)
}

/// Compares up to 3 preemptions, if there are few enough executions for brute force.
fn compare(text: &str, limit: u64) -> bool {
    let model = model(text);
    let Some(oracle) = oracle(&model, 1, limit) else { return false };
    for bound in 0..=3 {
        let (expected, anywhere) = oracle.within(|class| class.preemptions <= bound);
        let within = oracle.classes.values().filter(|class| class.preemptions <= bound);
        let in_classes: BTreeSet<Identity> = within.flat_map(|class| class.failures.clone()).collect();
        let (classes, failures, stats) = visited(&model, bound);
        assert_eq!(classes, expected, "to {bound}: {text}");
        assert_eq!(stats.schedules, expected.len() as u64, "to {bound}: {text}");
        assert!(failures.is_superset(&in_classes) && failures.is_subset(&anywhere), "to {bound}: {text}");
    }
    true
}

proptest! {
    #![proptest_config(ProptestConfig { cases: std::env::var("PROPTEST_CASES").map_or(64, |n| n.parse().unwrap()), failure_persistence: None, max_global_rejects: 100_000, ..ProptestConfig::default() })]

    #[test]
    fn exactly_the_classes_within_the_bound_are_visited(text in program()) {
        prop_assume!(compare(&text, 3_000));
    }
}

/// The read is asleep once its own schedule has been run, and the schedule that it sleeps in costs a preemption.
#[test]
fn sleep_sets_under_a_bound_would_lose_a_class() {
    let text = "r x, w x | r x";
    assert!(compare(text, 1_000));
    assert_eq!(all(text, StrategyKind::BoundedDpor, 0, true).stats.schedules, 2);
}

/// The second thread comes first for nothing, but between read and write for a preemption only.
#[test]
fn a_reversal_is_tried_at_the_start_of_the_block_as_well() {
    let text = "r y, w x | r x";
    assert!(compare(text, 1_000));
    assert_eq!(all(text, StrategyKind::BoundedDpor, 0, true).stats.schedules, 2);
}

/// The first thread's time runs out for nothing in the middle of the second one's block.
#[test]
fn whose_time_runs_out_is_tried_wherever_it_can() {
    assert!(compare(
        "lock n, timedwait c n, r y, unlock n, signal c, join T2 | T2: signal c, lock m, wait c m, unlock m",
        3_000
    ));
}

#[test]
fn everything_is_covered_once_nothing_costs_more_than_the_bound() {
    let text = "r x, w x | r x, w x";
    let covered = |bound| all(text, StrategyKind::BoundedDpor, bound, true).covered;
    assert!(!covered(1).everything && covered(2).everything);
    assert_eq!(all(text, StrategyKind::BoundedDpor, 9, true).covered.preemptions, Some(9));
}
