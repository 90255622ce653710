//! One cost with very many schedules takes turns with the next.

use super::oracle::oracle;
use super::*;
use crate::strategy::{Frontier, Preemptions};

/// Seven threads have 5,040 orders without a preemption; it takes one to get between the reads of the first.
const MANY: &str = "w x, r y a, r y b, assert a == b | w x, w y | w x | w x | w x | w x | w x";

fn search<'a>(
    program: &'a Model,
    options: &'a Options,
    observer: &'a mut SilentObserver,
    fairness_threshold: u64,
) -> Search<'a, Model> {
    let mut search = Search::new(program, options, observer);
    let bound = Preemptions { max: options.max_preemptions };
    search.strategy = Box::new(Frontier::with_fairness_threshold(bound, fairness_threshold));
    search
}

fn first_finding(max_preemptions: u32, fairness_threshold: Option<u64>) -> SearchOutcome {
    let program = model(MANY);
    let options = Options { max_preemptions, max_schedules: None, ..Options::default() };
    match fairness_threshold {
        Some(fairness_threshold) => {
            search(&program, &options, &mut SilentObserver, fairness_threshold).run().unwrap()
        }
        None => explore(&program, &options, &mut SilentObserver).unwrap(),
    }
}

#[test]
fn a_failure_one_preemption_further_is_found_before_all_schedules_without_one_are_through() {
    let free = first_finding(0, None);
    assert_eq!((free.findings.len(), free.covered.preemptions), (0, Some(0)));
    let all = free.stats.executions();
    assert!(all > 5_000, "{all}");

    let in_turns = first_finding(1, None);
    let finding = &in_turns.findings[0];
    assert_eq!(finding.preemptions, Some(1));
    assert!((2_000..all).contains(&finding.schedule_number), "{} of {all}", finding.schedule_number);
    // Some schedule without a preemption might show it as well: that has not been looked at.
    assert!(!finding.fewest);
    assert_eq!(in_turns.covered.preemptions, None);

    let in_order = first_finding(1, Some(u64::MAX));
    let finding = &in_order.findings[0];
    assert_eq!((finding.preemptions, finding.fewest), (Some(1), true));
    assert!(finding.schedule_number > all);
    assert_eq!(in_order.covered.preemptions, Some(0));
}

#[test]
fn a_finding_has_the_fewest_preemptions_once_all_schedules_with_fewer_are_through() {
    let program = model(MANY);
    let options = Options { max_preemptions: 1, max_schedules: None, keep_going: true, ..Options::default() };
    let outcome = search(&program, &options, &mut SilentObserver, 50).run().unwrap();
    assert!(outcome.findings[0].schedule_number < 5_000);
    assert_eq!((outcome.findings[0].preemptions, outcome.findings[0].fewest), (Some(1), true));
}

#[test]
fn whenever_a_search_in_turns_is_stopped_what_it_calls_covered_is() {
    let text = "r x, w x | r x, w x, lock m, unlock m | w x, lock m, unlock m";
    let program = model(text);
    let oracle = oracle(&program, 1, u64::MAX).unwrap();
    let mut seen = Vec::new();
    for max in 1.. {
        let options = Options { max_schedules: Some(max), keep_going: true, ..Options::default() };
        let mut observer = SilentObserver;
        let mut search = search(&program, &options, &mut observer, 3);
        let ended = search.search().unwrap();
        let covered = search.strategy.coverage(search.cut).preemptions;
        let (classes, _) = oracle.within(|class| covered.is_some_and(|covered| class.preemptions <= covered));
        assert!(search.cache.ends().is_superset(&classes), "{covered:?} after {max}");
        seen.push(covered);
        if ended == SearchEnd::Covered {
            break;
        }
    }
    assert!(seen.is_sorted() && seen.contains(&None) && seen.contains(&Some(1)), "{seen:?}");
    assert_eq!(seen.last(), Some(&Some(2)));
}
