//! Two customers draw a number each, with a home-made spin lock.
//!
//! Right: the flag is tested and set in one operation, so only one thread can find it free.

use std::hint;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;

static TAKEN: AtomicBool = AtomicBool::new(false);
static NEXT_NUMBER: AtomicU32 = AtomicU32::new(1);

fn with_lock<T>(critical: impl FnOnce() -> T) -> T {
    while TAKEN.swap(true, Ordering::Acquire) {
        hint::spin_loop();
    }
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
    assert_ne!(one, other, "two customers have one number");
}
