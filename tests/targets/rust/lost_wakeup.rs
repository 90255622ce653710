//! A consumer sleeps until a producer has computed a result.
//!
//! Wrong (lost wake-up): the consumer looks whether the result is ready, gives the mutex back, and then goes to sleep. The
//! result and its notification can come in between; then nobody wakes it.
//! Finding: deadlock, the consumer in its wait and main in its join.
//! Preemptions: 1. With 0, the consumer looks and falls asleep without a stop. With 1: stop it between the two, and let the
//! producer run to its end.

use std::sync::{Condvar, Mutex};
use std::thread;

static READY: Mutex<bool> = Mutex::new(false);
static IS_READY: Condvar = Condvar::new();

fn compute() {
    *READY.lock().unwrap() = true;
    IS_READY.notify_one();
}

fn is_ready() -> bool {
    *READY.lock().unwrap()
}

fn wait_for_result() {
    if !is_ready() {
        let guard = READY.lock().unwrap();
        drop(IS_READY.wait(guard).unwrap()); // FAILS HERE
    }
}

fn main() {
    let consumer = thread::spawn(wait_for_result);
    let producer = thread::spawn(compute);
    consumer.join().unwrap(); // FAILS HERE
    producer.join().unwrap();
}
