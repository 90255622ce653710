//! The number of looks at events that it takes to find the children of an execution: no time is measured.

use std::sync::RwLock;

use super::canonical::CanonicalSchedule;
use super::children;
use super::frame::Origin;
use super::outcome_table::{KnownOutcomes, OutcomeTable};
use crate::event::position::{PerEvent, Position};
use crate::limit::Limit;
use crate::strategy::dpor::races::Races;
use crate::strategy::dpor::tests::{canonical_run, random_run};
use crate::trace::Trace;

/// The number of times that an event of an execution is looked at until its children are known.
fn looks(run: &Trace) -> u64 {
    let (races, others) = (Races::new(run), RwLock::default());
    let shown = OutcomeTable::of(&races);
    let outcomes = KnownOutcomes::new(&others, &shown);
    let canonical = CanonicalSchedule::new(&races, &outcomes, Position::BEHIND_ALL, false, false);
    let mut scheduled = PerEvent::default();
    scheduled.resize(run.steps.end(), false);
    let origin = Origin { scheduled, overtaken: Vec::new() };
    children::all(&races, &canonical, (&origin, &Limit::default()), Position::BEHIND_ALL);
    races.looks.get()
}

fn threads(threads: usize, body: &str) -> String {
    let each = (1..=threads).map(|nth| format!("T{nth}: {body}"));
    format!("let s=1 | {}", each.collect::<Vec<_>>().join(" | "))
}

/// An operation conflicts with few events of each thread.
const ORDERED: [&str; 4] = [
    "lock m, unlock m",
    "trylock m, if m { unlock m }",
    "cas x 0 1, cas x 1 0, add y",
    "lock m, r x, w x x+1, unlock m, add a, r x",
];

/// Readers, and waits of which it is asked whether they can go on, with many threads.
const OTHERS: [&str; 2] = ["rdlock l, r x, rdunlock l, wrlock l, w x, wrunlock l", "down s, up s"];

/// With four times as many events, four times as much, but for logarithms.
#[test]
fn the_children_of_an_execution_are_found_in_time_near_linear_in_its_events() {
    for body in ORDERED.into_iter().chain(OTHERS) {
        let text = |rounds: usize| threads(3, &format!("loop {rounds} {{ {body} }}"));
        for (few, many) in [
            (canonical_run(&text(50)), canonical_run(&text(200))),
            (random_run(&text(50), 1), random_run(&text(200), 1)),
        ] {
            let (few, many) = (looks(&few), looks(&many));
            assert!(many <= 6 * few, "{body}: {few} for 50 rounds, {many} for 200");
        }
    }
}

/// With four times as many threads, four times as many events, each of which can race with events of four times as many threads.
#[test]
fn the_children_of_an_execution_are_found_in_time_near_linear_in_threads_and_events() {
    for body in ORDERED {
        let run = |number| canonical_run(&threads(number, &format!("loop 2 {{ {body} }}")));
        let (few, many) = (looks(&run(6)), looks(&run(24)));
        assert!(many <= 20 * few, "{body}: {few} for 6 threads, {many} for 24");
    }
}
