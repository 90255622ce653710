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
    let outcome = all(text, StrategyKind::Dpor, 0, true);
    let Stats { schedules: got, deadlocked: stuck, redundant, pruned, .. } = outcome.stats;
    assert_eq!((got, stuck, redundant, pruned), (schedules, deadlocked, 0, 0), "{text}");
    assert!(outcome.covered.everything, "{text}");
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
    check("w x, w y | w y, r x", 3, 0);
    check("w x, w y | r y, w x", 3, 0);
    check("w x, w y | w y, w x", 3, 0);
    // The orders of writes: of three threads, and of two with three each.
    check("w x | w x | w x", 6, 0);
    check("loop 3 { w x } | loop 3 { w x }", 20, 0);
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

#[test]
fn a_failed_compare_and_swap_is_a_read() {
    // Thread k swaps k - 1 for k; the counts are GenMC's.
    for (n, classes) in [(2, 2), (3, 5), (4, 14), (5, 43)] {
        check(&threads((1..=n).map(|k| format!("cas x {} {k}", k - 1))), classes, 0);
    }
}

#[test]
fn the_last_zero_is_looked_for_while_others_write() {
    let reader = |n: u32| (0..=n).fold(String::new(), |then, i| format!("r a{i}, if a{i} {{ {then} }}"));
    for (n, classes) in [(3, 12), (5, 64)] {
        let writers = (1..=n).map(|j| format!("r a{}, w a{j} a{}+1", j - 1, j - 1));
        check(&threads(std::iter::once(reader(n)).chain(writers)), classes, 0);
    }
}

#[test]
fn philosophers() {
    let table = |n: usize, ordered: bool| {
        threads((0..n).map(|i| {
            let (left, right) = (i, (i + 1) % n);
            let (first, second) = if ordered && left > right { (right, left) } else { (left, right) };
            format!("lock f{first}, lock f{second}, add m{i}, unlock f{second}, unlock f{first}")
        }))
    };
    // Each pair of neighbours has two orders; not all round the table in a circle. All with one fork is a deadlock.
    for n in 3..=5 {
        check(&table(n, true), (1 << n) - 2, 0);
        check(&table(n, false), (1 << n) - 1, 1);
    }
}

#[test]
fn unprotected_counters() {
    for (t, k, classes) in [(2, 1, 4), (2, 2, 34), (2, 3, 328), (3, 1, 36)] {
        let body = format!("loop {k} {{ r x, w x x+1 }}");
        check(&threads((0..t).map(|_| body.clone())), classes, 0);
    }
}

#[test]
fn fibonacci_numbers_by_two_threads() {
    for (n, classes) in [(2, 19), (3, 141), (4, 1107)] {
        check(
            &format!("let i=1 j=1 | loop {n} {{ r i, r j, w i i+j }} | loop {n} {{ r j, r i, w j i+j }}"),
            classes,
            0,
        );
    }
}

#[test]
fn condition_variables() {
    let waiter = "lock m, r ready, while ready == 0 { wait c m, r ready }, unlock m".to_owned();
    for (n, classes) in [(1, 2), (2, 10), (3, 96)] {
        let setter = "lock m, w ready, broadcast c, unlock m".to_owned();
        check(&threads((0..n).map(|_| waiter.clone()).chain([setter])), classes, 0);
    }
    check("lock m, wait c m, unlock m | lock m, signal c, unlock m", 2, 1);
}

#[test]
fn barriers_semaphores_and_read_write_locks() {
    for n in 2..=4_u64 {
        let neighbour =
            |k: u64| format!("w s{k}, bar b {n}, r s{}, assert s{} == 1", (k + 1) % n, (k + 1) % n);
        check(&threads((0..n).map(neighbour)), 1, 0);
        let taken = format!("let s=1 | {}", threads((0..n).map(|_| "down s, add x, up s".to_owned())));
        check(&taken, factorial(n), 0);
        let reader = (0..n).map(|_| "rdlock l, r v, rdunlock l".to_owned());
        check(&threads(std::iter::once("wrlock l, w v, wrunlock l".to_owned()).chain(reader)), 1 << n, 0);
    }
}

#[test]
fn creating_and_joining_threads_adds_no_classes() {
    check("create T2, create T3, join T2, join T3, r x | T2: r x, w x x+1 | T3: r x, w x x+1", 4, 0);
}

#[test]
fn a_failed_attempt_at_a_lock_is_a_read_of_it() {
    // Before the critical section, in it, after it.
    check("lock m, unlock m | trylock m, if m { unlock m }", 3, 0);
    // Two attempts by threads that cannot succeed: no order between them.
    check("lock m, create T2, create T3, join T2, join T3 | T2: trylock m | T3: trylock m", 1, 0);
}
