//! Four threads count together, correctly. Their interleavings are too many for any budget.

use std::thread;

use cargo_tests::Views;

const THREADS: u32 = 4;
const ROUNDS: u32 = 25;

#[test]
fn a_crowd_is_counted() {
    let views = Views::default();
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| (0..ROUNDS).for_each(|_| views.add_at_once()));
        }
    });
    assert_eq!(views.count(), THREADS * ROUNDS);
}
