//! Two threads view a page.

use std::thread;

use cargo_tests::Views;

fn main() {
    let views = Views::default();
    thread::scope(|scope| {
        scope.spawn(|| views.add());
        scope.spawn(|| views.add());
    });
    assert_eq!(views.count(), 2);
}
