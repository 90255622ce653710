//! Numbers of happens-before classes that are known from elsewhere.

use super::*;

/// `schedules` and `deadlocked` of a search without a bound.
fn check(text: &str, schedules: u64, deadlocked: u64) {
    for (strategy, bound) in [(StrategyKind::Dfs, 0), (StrategyKind::Icb, 99), (StrategyKind::Idb, 99)] {
        let outcome = all(text, strategy, bound, true);
        let Stats { schedules: got, deadlocked: stuck, .. } = outcome.stats;
        assert_eq!((got, stuck), (schedules, deadlocked), "{strategy:?} {text}");
        assert!(outcome.covered.everything, "{strategy:?} {text}");
    }
}

/// A program of threads, and what each one does.
fn threads(each: impl IntoIterator<Item = String>) -> String {
    each.into_iter().collect::<Vec<_>>().join(" | ")
}

fn factorial(n: u64) -> u64 {
    (1..=n).product()
}

#[test]
fn litmus_tests() {
    // Of the 4 outcomes of two reads, sequential consistency forbids one.
    check("w x, r y | w y, r x", 3, 0);
    check("w x, w y | r y, r x", 3, 0);
    check("r x, w y | r y, w x", 3, 0);
    check("w x, r y | w y, r z | w z, r x", 7, 0);
    check("w x | w y | r x, r y | r y, r x", 15, 0);
    // The orders of three writes.
    check("w x | w x | w x", 6, 0);
}

#[test]
fn critical_sections_come_in_every_order() {
    for (t, k) in [(2, 1), (2, 2), (2, 3), (3, 1), (3, 2), (4, 1), (5, 1)] {
        let body = format!("loop {k} {{ lock m, r x, w x x+1, unlock m }}");
        let text = threads((0..t).map(|_| body.clone()));
        check(&text, factorial(t * k) / factorial(k).pow(t as u32), 0);
    }
}

#[test]
fn each_reader_sees_the_write_or_does_not() {
    for n in [2, 3, 8] {
        check(&threads(std::iter::once("w x".to_owned()).chain((0..n).map(|_| "r x".to_owned()))), 1 << n, 0);
    }
}

#[test]
fn opposite_lock_orders_deadlock_in_one_class_of_three() {
    check("lock a, lock b, unlock b, unlock a | lock b, lock a, unlock a, unlock b", 3, 1);
}
