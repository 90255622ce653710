//! Searches that look for data races as well.

use std::collections::BTreeSet;

use proptest::prelude::{prop_assume, proptest};

use super::*;
use crate::race::HarmfulOrder;
use crate::search::tests::brute_force::generated::generated;
use crate::strategy::Coverage;

fn races(text: &str, keep_going: bool) -> SearchOutcome {
    let options = Options { keep_going, races: true, max_schedules: None, ..Options::default() };
    explore(&model(text), &options, &mut SilentObserver).unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn a_race_is_no_failure() {
    let outcome = races("w x | r x", true);
    assert!(outcome.findings.is_empty() && outcome.ended == SearchEnd::Covered);
    let found = outcome.races.into_found();
    let [pair] = &found[..] else { panic!("{found:?}") };
    assert_eq!((pair.certain, pair.harm), (true, None));
    assert!(races("lock m, w x, unlock m | lock m, r x, unlock m", true).races.is_empty());
}

#[test]
fn nobody_looks_for_races_unless_told() {
    assert!(all("w x | r x", StrategyKind::Icb, 2, true).races.is_empty());
}

#[test]
fn the_order_that_fails_is_harmful() {
    // The read that is too early fails, always.
    let outcome = races("w x 1 | r x, assert x == 1", true);
    let found = outcome.races.into_found();
    let [pair] = &found[..] else { panic!("{found:?}") };
    let Some(HarmfulOrder { order, both, failed, others }) = pair.harm else { panic!("{found:?}") };
    assert_eq!((order[0].writes, both, failed, others), (false, false, 1, (1, 1)));
}

#[test]
fn no_single_order_loses_an_update() {
    let text = "T1: create T2, r x, w x x+1, join T2, r x, assert x == 2 | T2: r x, w x x+1";
    let outcome = races(text, true);
    assert_eq!(outcome.findings.len(), 1);
    // Each read with the other's write, and the writes.
    let found = outcome.races.into_found();
    assert_eq!(found.len(), 3);
    // It takes two of them to lose one: either order of each passes with the right order of another.
    assert!(found.iter().all(|pair| pair.harm.is_none()));
}

#[test]
fn what_key_points_found_later_order_is_no_race() {
    let program = programs::Promoting::new("w x, yield | yield, r x", "w x, up s | down s, r x", 4);
    let options = Options { races: true, ..Options::default() };
    let outcome = explore(&program, &options, &mut SilentObserver).unwrap();
    assert!(outcome.stats.before_restart > 0 && outcome.races.is_empty());
}

fn narrow(strategy: StrategyKind, bound: u32) -> Options {
    Options {
        strategy,
        max_preemptions: bound,
        max_delays: bound,
        keep_going: true,
        only_synchronisation: true,
        max_schedules: None,
        ..Options::default()
    }
}

fn at_synchronisation(text: &str, bound: u32) -> SearchOutcome {
    let options = narrow(StrategyKind::Icb, bound);
    explore(&model(text), &options, &mut SilentObserver).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Theorems 2 and 3 of the ICB paper: where no execution that is switched at synchronisation has a race, these executions
/// show every failure that there is within the bound. `None` if there are too many executions, else whether there was no
/// race.
fn check_theorem(text: &str) -> Option<bool> {
    let oracle = oracle::oracle(&model(text), 1, 2_000)?;
    let mut without_race = false;
    for bound in 0..=2 {
        without_race |= check_within(text, &oracle, StrategyKind::Icb, bound);
        without_race |= check_within(text, &oracle, StrategyKind::Idb, bound);
    }
    Some(without_race | check_within(text, &oracle, StrategyKind::Dfs, u32::MAX))
}

/// The same for one search and bound.
fn check_within(text: &str, oracle: &oracle::Oracle, strategy: StrategyKind, bound: u32) -> bool {
    let outcome = explore(&model(text), &narrow(strategy, bound), &mut SilentObserver);
    let outcome = outcome.unwrap_or_else(|error| panic!("{text}: {error}"));
    let reached = |covered: Coverage| {
        let bounded = match strategy {
            StrategyKind::Icb => covered.preemptions,
            _ => covered.delays,
        };
        covered.everything || bounded.is_some_and(|covered| covered >= bound)
    };
    // The schedules that more time-outs than one would lead to are within no bound of dfs.
    let is_left_open = strategy == StrategyKind::Dfs && text.contains("timed");
    let all = is_left_open || reached(outcome.at_synchronisation.unwrap_or(outcome.covered));
    assert!(all, "{} to {bound}: {text}", strategy.name());
    match outcome.at_synchronisation {
        // A thread gives way.
        None => {}
        Some(_) if !outcome.races.is_empty() => {
            assert_eq!(outcome.covered, Coverage::default(), "{text}");
            return false;
        }
        Some(covered) => assert_eq!(outcome.covered, covered),
    }
    let (_, expected) = oracle.within(|class| match strategy {
        StrategyKind::Icb => class.preemptions <= bound,
        _ => class.delays <= bound,
    });
    let found = outcome.findings.into_iter().filter(|finding| !finding.outdated);
    let found: BTreeSet<Identity> = found.map(|finding| finding.identity).collect();
    assert_eq!(found, expected, "{} to {bound}: {text}", strategy.name());
    true
}

proptest! {
    #![proptest_config(generated(32))]

    #[test]
    fn without_a_race_switching_at_synchronisation_finds_every_failure(text in against_oracle::program()) {
        prop_assume!(check_theorem(&text).is_some());
    }
}

#[test]
fn what_locks_protect_needs_no_switch_between_its_accesses() {
    let text = "T1: create T2, lock m, w x 1, w x 2, unlock m, join T2 \
                | T2: lock m, r x, assert x != 1, unlock m, lock m, r x, assert x < 2, unlock m";
    assert_eq!(check_theorem(text), Some(true));
}

#[test]
fn what_only_one_thread_touches_is_no_place_to_switch_at() {
    let text = "T1: create T2, w x, w x, w x, join T2 | T2: r y, r y, r y";
    assert_eq!(check_theorem(text), Some(true));
    let narrow = at_synchronisation(text, 2).stats.executions_now();
    let wide = races(text, true).stats.executions_now();
    assert!(narrow < wide, "{narrow} of {wide}");
}

#[test]
fn a_race_says_that_switching_at_synchronisation_was_not_enough() {
    let text = "T1: create T2, r x, w x x+1, join T2, r x, assert x == 2 | T2: r x, w x x+1";
    let outcome = at_synchronisation(text, 2);
    assert!(outcome.findings.is_empty() && outcome.ended == SearchEnd::Covered);
    assert!(!outcome.races.is_empty());
    assert_eq!(outcome.covered, Coverage::default());
}

#[test]
fn a_variable_that_turns_out_to_synchronise_is_a_place_to_switch_at() {
    // Only the one order shows that `f` is touched by an indivisible instruction.
    let text = "r f, if f { add f } r f, assert f < 2 | w f 1";
    let outcome = at_synchronisation(text, 2);
    assert!(outcome.stats.before_restart > 0 && outcome.races.is_empty());
    assert_eq!(check_theorem(text), Some(true));
}

#[test]
fn every_search_that_takes_any_choices_switches_at_synchronisation_only() {
    let text = "T1: create T2, r x, w x x+1, join T2, r x, assert x == 2 | T2: r x, w x x+1";
    for strategy in StrategyKind::ALL.into_iter().filter(|strategy| strategy.takes_any_choices()) {
        for (only_synchronisation, expected) in [(true, 0), (false, 1)] {
            let options = Options { only_synchronisation, max_schedules: Some(200), ..narrow(strategy, 2) };
            let outcome = explore(&model(text), &options, &mut SilentObserver).unwrap();
            assert_eq!(outcome.findings.len(), expected, "{}", strategy.name());
        }
    }
}

#[test]
fn what_raced_until_the_failure_that_ends_the_search_covers_nothing() {
    // Without preemptions `f` races; with one, the thread that fails shows at the same time that `f` synchronises.
    let text = "T1: r f, if f { add f, r g, assert g } | T2: w f 1, lock m, unlock m, w f 0";
    let options = Options { keep_going: false, ..narrow(StrategyKind::Icb, 2) };
    let outcome = explore(&model(text), &options, &mut SilentObserver).unwrap();
    assert_eq!((outcome.ended, outcome.findings.len()), (SearchEnd::FirstBug, 1));
    assert!(outcome.races.is_empty());
    assert_eq!(outcome.covered, Coverage::default());
    assert_eq!(outcome.at_synchronisation, Some(Coverage::default()));
}

#[test]
fn turns_of_a_thread_that_gives_way_may_depend_on_any_access_of_others() {
    // T2 goes on after each yield once T1 has moved, if only by a store that no other thread looks at.
    let text = "T1: add s, w p, w p, r x, assert x == 0 | T2: yield, yield, yield, yield, yield, add x";
    assert_eq!(check_theorem(text), Some(true));
    let outcome = at_synchronisation(text, 2);
    assert_eq!((outcome.findings.len(), outcome.at_synchronisation), (1, None));
    assert!(outcome.notes.contains(&SearchNote::SwitchedEverywhere), "{:?}", outcome.notes);
}
