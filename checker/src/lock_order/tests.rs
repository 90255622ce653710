//! Lock orders of model programs.

use super::PotentialDeadlock;
use crate::event::failure::FailureKind;
use crate::model::Model;
use crate::race::HiddenSynchronisation;
use crate::search::SilentObserver;
use crate::search::{Options, SearchOutcome, explore};

fn explored(text: &str, max_preemptions: u32) -> (Model, SearchOutcome) {
    let model: Model = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
    let options = Options {
        max_preemptions,
        races: true,
        lock_order: true,
        keep_going: true,
        max_schedules: None,
        ..Options::default()
    };
    let outcome =
        explore(&model, &options, &mut SilentObserver).unwrap_or_else(|error| panic!("{text}: {error}"));
    (model, outcome)
}

/// The warnings of a search without preemptions: of each potential deadlock the locks, first the one that is held.
fn told(text: &str) -> Vec<String> {
    let (model, mut outcome) = explored(text, 0);
    assert!(outcome.findings.is_empty(), "{text}: {:?}", outcome.findings);
    let words = |potential: &PotentialDeadlock| {
        let name = |lock| model.name_of(lock).unwrap_or_default();
        let edges = potential.edges.iter();
        edges
            .map(|edge| format!("{} {}", name(edge.outer.lock), name(edge.inner.lock)))
            .collect::<Vec<_>>()
            .join(", ")
    };
    outcome.lock_orders.confirm(outcome.races.variables(), |_, _| HiddenSynchronisation::default());
    outcome.lock_orders.into_found().iter().map(words).collect()
}

const OPPOSITE: &str = "lock a, lock b, unlock b, unlock a | lock b, lock a, unlock a, unlock b";

#[test]
fn opposite_orders_are_told_where_no_execution_deadlocks() {
    assert_eq!(told(OPPOSITE), ["a b, b a"]);
    let same = "lock a, lock b, unlock b, unlock a | lock a, lock b, unlock b, unlock a";
    assert_eq!(told(same), [""; 0]);
    let apart = "lock a, unlock a, lock b, unlock b | lock b, unlock b, lock a, unlock a";
    assert_eq!(told(apart), [""; 0]);
}

#[test]
fn a_cycle_of_three_threads_is_told() {
    let text = "lock a, lock b, unlock b, unlock a | lock b, lock c, unlock c, unlock b | lock c, lock a, unlock a, unlock c";
    assert_eq!(told(text), ["a b, b c, c a"]);
}

#[test]
fn a_deadlock_that_was_found_is_no_potential_one() {
    let (_, outcome) = explored(OPPOSITE, 1);
    assert_eq!(outcome.findings[0].failure.kind, FailureKind::Deadlock);
    assert!(outcome.lock_orders.is_empty());
    // After another failure they are potential ones still.
    let crashes = format!("{OPPOSITE}, crash");
    let (_, outcome) = explored(&crashes, 0);
    assert_eq!(outcome.findings.len(), 1);
    assert_eq!(outcome.lock_orders.into_found().len(), 1);
}

#[test]
fn where_every_schedule_was_run_nothing_is_told() {
    // The value of `x` keeps the second thread from the deadlock; of that the order of locks says nothing.
    let text = "w x 1, lock a, lock b, w x 2, unlock b, unlock a \
                | lock b, r x, if x == 2 { lock a, unlock a }, unlock b";
    assert_eq!(told(text), ["a b, b a"]);
    let (_, outcome) = explored(text, 20);
    assert!(outcome.findings.is_empty() && outcome.covered.everything, "{:?}", outcome.covered);
    assert!(outcome.lock_orders.is_empty());
}

#[test]
fn a_gate_lock_keeps_threads_apart() {
    let gate = "lock g, lock a, lock b, unlock b, unlock a, unlock g | lock g, lock b, lock a, unlock a, unlock b, unlock g";
    assert_eq!(told(gate), [""; 0]);
    // Given back before the second lock is taken, it keeps no threads apart.
    let early = "lock g, lock a, unlock g, lock b, unlock b, unlock a | lock g, lock b, unlock g, lock a, unlock a, unlock b";
    assert_eq!(told(early), ["a b, b a"]);
    let read = "rdlock g, lock a, lock b, unlock b, unlock a, rdunlock g \
                | rdlock g, lock b, lock a, unlock a, unlock b, rdunlock g";
    assert_eq!(told(read), ["a b, b a"]);
}

#[test]
fn what_else_orders_threads_keeps_them_apart() {
    for text in [
        "T1: create T2, join T2, lock b, lock a, unlock a, unlock b | T2: lock a, lock b, unlock b, unlock a",
        "T1: lock b, lock a, unlock a, unlock b, create T2, join T2 | T2: lock a, lock b, unlock b, unlock a",
        "lock a, lock b, unlock b, unlock a, up s | down s, lock b, lock a, unlock a, unlock b",
        "lock a, lock b, unlock b, unlock a, w f | await f, lock b, lock a, unlock a, unlock b",
    ] {
        assert_eq!(told(text), [""; 0], "{text}");
    }
    // In the other order of the two it is not ordered.
    let either = "lock a, lock b, unlock b, unlock a, add f \
                  | add f, lock b, lock a, unlock a, unlock b, bar z 2 | bar z 2";
    assert_eq!(told(either), ["a b, b a"]);
}

#[test]
fn an_acquisition_that_comes_again_may_be_unordered_later() {
    let again = "T1: loop 2 { lock b, lock a, unlock a, unlock b, create T2 }, join T2 \
                 | T2: lock a, lock b, unlock b, unlock a";
    let once = again.replace("create T2 }, join", "if n == 0 { create T2, set n 1 } }, join");
    assert_eq!(told(&once), ["b a, a b"]);
}

#[test]
fn readers_do_not_wait_for_readers() {
    let order = |first: [&str; 2], second: [&str; 2]| {
        let one = |[outer, inner]: [&str; 2], [x, y]: [&str; 2]| {
            format!("{outer}lock {x}, {inner}lock {y}, {inner}unlock {y}, {outer}unlock {x}")
        };
        told(&format!("{} | {}", one(first, ["a", "b"]), one(second, ["b", "a"])))
    };
    assert_eq!(order(["rd", "rd"], ["rd", "rd"]), [""; 0]);
    assert_eq!(order(["rd", "rd"], ["rd", "wr"]), [""; 0]);
    assert_eq!(order(["rd", "wr"], ["rd", "wr"]), ["a b, b a"]);
    assert_eq!(order(["rd", "wr"], ["wr", "wr"]), ["a b, b a"]);
}

#[test]
fn what_does_not_wait_for_ever_is_no_part_of_a_deadlock() {
    for attempt in ["trylock", "timedlock"] {
        let inner = format!(
            "lock a, lock b, unlock b, unlock a | lock b, {attempt} a, if a {{ unlock a }}, unlock b"
        );
        assert_eq!(told(&inner), [""; 0], "{inner}");
        let outer = format!(
            "lock a, lock b, unlock b, unlock a | {attempt} b, if b {{ lock a, unlock a, unlock b }}"
        );
        assert_eq!(told(&outer), ["a b, b a"], "{outer}");
    }
}
