//! The same steps as in `../lines.c`, with threads of Rust's library.

use std::cell::UnsafeCell;
use std::thread;

struct Shared(UnsafeCell<i32>);

// SAFETY: wrong, which is the point.
unsafe impl Sync for Shared {}

static SHARED: Shared = Shared(UnsafeCell::new(0));

#[inline(never)]
fn twice(value: i32) -> i32 {
    let doubled = value + value; // in twice
    doubled // out of twice
} // end of twice

fn worker() -> i32 {
    let (mut local, mut i) = (1, 0); // begin
    while i < 2 { // loop
        local = local * 10 + i; // body
        i += 1; // count
    }
    let seen = unsafe { *SHARED.0.get() }; // read
    local = twice(local); // call
    unsafe { *SHARED.0.get() = seen + 1 }; // write
    local // keep
} // end of worker

fn main() {
    let first = thread::spawn(worker); // create first
    let second = thread::spawn(worker); // create second
    first.join().unwrap(); // join first
    second.join().unwrap(); // join second
    assert_eq!(unsafe { *SHARED.0.get() }, 2); // FAILS HERE
}
