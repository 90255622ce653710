//! A consumer sleeps until a producer has computed a result.
//!
//! Right: the consumer looks with the mutex held, and the wait releases it and enqueues in one step; after each wake-up it
//! looks again.

use std::sync::{Condvar, Mutex};
use std::thread;

static READY: Mutex<bool> = Mutex::new(false);
static IS_READY: Condvar = Condvar::new();

fn compute() {
    *READY.lock().unwrap() = true;
    IS_READY.notify_one();
}

fn wait_for_result() {
    let ready = READY.lock().unwrap();
    let ready = IS_READY.wait_while(ready, |ready| !*ready).unwrap();
    assert!(*ready);
}

fn main() {
    let consumer = thread::spawn(wait_for_result);
    let producer = thread::spawn(compute);
    consumer.join().unwrap();
    producer.join().unwrap();
}
