//! A runner waits for the start of the race.
//!
//! Right: the starter says that the race has begun, and then wakes the runner.

use std::sync::{Condvar, Mutex};
use std::thread;

static HAS_BEGUN: Mutex<bool> = Mutex::new(false);
static START: Condvar = Condvar::new();

fn start() {
    *HAS_BEGUN.lock().unwrap() = true;
    START.notify_one();
}

fn run() {
    let mut has_begun = HAS_BEGUN.lock().unwrap();
    while !*has_begun {
        has_begun = START.wait(has_begun).unwrap();
    }
}

fn main() {
    let runner = thread::spawn(run);
    let starter = thread::spawn(start);
    runner.join().unwrap();
    starter.join().unwrap();
}
