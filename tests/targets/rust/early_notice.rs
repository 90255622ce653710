//! A runner waits for the start of the race.
//!
//! Wrong (lost wake-up): the starter wakes the runner first, and says only then that the race has begun. A runner that looks in
//! between finds that it has not, and waits; nobody wakes it again, though it looks in a loop.
//! Finding: deadlock, the runner in its wait and main in its join.
//! Preemptions: 1. With 0, the starter comes from the one to the other without a stop: a runner that it wakes goes on behind
//! both, and one that comes later does not wait. With 1: stop it between the two, and let the runner come to its wait.

use std::sync::{Condvar, Mutex};
use std::thread;

static HAS_BEGUN: Mutex<bool> = Mutex::new(false);
static START: Condvar = Condvar::new();

fn start() {
    START.notify_one();
    *HAS_BEGUN.lock().unwrap() = true;
}

fn run() {
    let mut has_begun = HAS_BEGUN.lock().unwrap();
    while !*has_begun {
        has_begun = START.wait(has_begun).unwrap(); // FAILS HERE
    }
}

fn main() {
    let runner = thread::spawn(run);
    let starter = thread::spawn(start);
    runner.join().unwrap(); // FAILS HERE
    starter.join().unwrap();
}
