//! Searches that look for data races as well.

use super::*;
use crate::race::Harm;

fn races(text: &str, keep_going: bool) -> Outcome {
    let options = Options { keep_going, races: true, max_schedules: None, ..Options::default() };
    explore(&model(text), &options, &mut Patient).unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn a_race_is_no_failure() {
    let outcome = races("w x | r x", true);
    assert!(outcome.findings.is_empty() && outcome.ended == Ended::Covered);
    let [pair] = &outcome.races[..] else { panic!("{:?}", outcome.races) };
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
    let [pair] = &outcome.races[..] else { panic!("{:?}", outcome.races) };
    let Some(Harm { order, both, failed, others }) = pair.harm else { panic!("{:?}", outcome.races) };
    assert_eq!((order[0].writes, both, failed, others), (false, false, 1, (1, 1)));
}

#[test]
fn no_single_order_loses_an_update() {
    let text = "T1: create T2, r x, w x x+1, join T2, r x, assert x == 2 | T2: r x, w x x+1";
    let outcome = races(text, true);
    assert_eq!(outcome.findings.len(), 1);
    // Each read with the other's write, and the writes.
    assert_eq!(outcome.races.len(), 3);
    // It takes two of them to lose one: either order of each passes with the right order of another.
    assert!(outcome.races.iter().all(|pair| pair.harm.is_none()));
}

#[test]
fn what_key_points_found_later_order_is_no_race() {
    let program = programs::Promoting::new("w x, yield | yield, r x", "w x, up s | down s, r x", 4);
    let options = Options { races: true, ..Options::default() };
    let outcome = explore(&program, &options, &mut Patient).unwrap();
    assert!(outcome.stats.before_restart > 0 && outcome.races.is_empty());
}
