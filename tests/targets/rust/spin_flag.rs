//! Two customers draw a number each, with a home-made spin lock.
//!
//! Wrong (spin flag): testing the flag and setting it are two operations, so both threads can find it free.
//! Finding: panic, in `main`.
//! Preemptions: 2. The second thread must test the flag before the first one has set it, so one of them is stopped between
//! its test and its set: one. And the other must be stopped after it has read the number and before it has written the next
//! one: two. A thread that spins gives way, and so leaving it is free.

use std::hint;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;

static TAKEN: AtomicBool = AtomicBool::new(false);
static NEXT_NUMBER: AtomicU32 = AtomicU32::new(1);

fn with_lock<T>(critical: impl FnOnce() -> T) -> T {
    while TAKEN.load(Ordering::Acquire) {
        hint::spin_loop();
    }
    TAKEN.store(true, Ordering::Relaxed);
    let result = critical();
    TAKEN.store(false, Ordering::Release);
    result
}

fn draw_number() -> u32 {
    with_lock(|| {
        let number = NEXT_NUMBER.load(Ordering::Relaxed);
        NEXT_NUMBER.store(number + 1, Ordering::Relaxed);
        number
    })
}

fn main() {
    let customers = [thread::spawn(draw_number), thread::spawn(draw_number)];
    let [one, other] = customers.map(|customer| customer.join().unwrap());
    assert_ne!(one, other, "two customers have one number"); // FAILS HERE
}
