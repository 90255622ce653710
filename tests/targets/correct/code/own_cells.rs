//! Each thread has a cell of its own. The second one may get the memory of the first one, which has ended.

use std::cell::Cell;
use std::thread;

thread_local!(static OWN: Cell<u32> = const { Cell::new(0) });

fn count() {
    OWN.with(|own| own.set(own.get() + 1));
}

fn main() {
    thread::scope(|scope| {
        scope.spawn(count);
        scope.spawn(count);
    });
}
