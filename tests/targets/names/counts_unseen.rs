//! A sweeper sleeps until it is told to stop, by who does not take its mutex. What the clerk counts is only known to be shared when
//! the sweeper goes on: in a schedule that was recorded before, main waits for a clerk that has nothing to do.
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::sync::{Condvar, Mutex};
use std::thread;

static COUNTED: AtomicU32 = AtomicU32::new(0);
static STOPS: AtomicBool = AtomicBool::new(false);
static TOTAL: Mutex<u32> = Mutex::new(0);
static WAKE_UP: Condvar = Condvar::new();

fn sweep() {
    let mut total = TOTAL.lock().unwrap();
    while !STOPS.load(SeqCst) {
        total = WAKE_UP.wait(total).unwrap();
    }
    *total += COUNTED.swap(0, SeqCst);
}

fn count() {
    COUNTED.fetch_add(1, SeqCst);
    COUNTED.fetch_add(1, SeqCst);
}

fn main() {
    let sweeper = thread::spawn(sweep);
    let clerk = thread::spawn(count);
    clerk.join().unwrap();
    STOPS.store(true, SeqCst);
    WAKE_UP.notify_one();
    sweeper.join().unwrap();
    assert_eq!(*TOTAL.lock().unwrap(), 2);
}
