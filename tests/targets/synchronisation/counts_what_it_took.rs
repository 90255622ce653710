//! Two readers of a box, and a count of what they took from it that is not kept under the lock: who waits looks again.

use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Condvar, Mutex};
use std::thread;

static LETTERS: Mutex<u32> = Mutex::new(0);
static IS_FULL: Condvar = Condvar::new();
static TAKEN: AtomicU32 = AtomicU32::new(0);

fn take() {
    let mut letters = LETTERS.lock().unwrap();
    while *letters == 0 {
        letters = IS_FULL.wait(letters).unwrap();
    }
    *letters -= 1;
    drop(letters);
    let taken = TAKEN.load(SeqCst);
    TAKEN.store(taken + 1, SeqCst);
}

fn main() {
    let readers = [0, 1].map(|_| thread::spawn(take));
    for _ in 0..2 {
        *LETTERS.lock().unwrap() += 1;
        IS_FULL.notify_one();
    }
    for reader in readers {
        reader.join().unwrap();
    }
    assert_eq!(TAKEN.load(SeqCst), 2);
}
