//! A test that fails while a thread of its own still waits: what the harness does then comes between that thread's events.

use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Condvar, Mutex};
use std::thread;
use std::time::Duration;

static STEPS: AtomicU32 = AtomicU32::new(0);

#[test]
fn is_overtaken() {
    thread::spawn(|| {
        let (lock, never) = (Mutex::new(()), Condvar::new());
        for _ in 0..3 {
            STEPS.fetch_add(1, SeqCst); // STEP
            drop(never.wait_timeout(lock.lock().unwrap(), Duration::from_millis(5))); // WAIT
        }
    });
    assert_eq!(STEPS.load(SeqCst), 0);
}
