//! A cache directory that is chosen when it is first needed, by whoever needs it first.
//!
//! Right: `Once` lets one thread choose and makes the other one wait until it is done.

use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

static CHOICE: Once = Once::new();
static DIRECTORY: AtomicU32 = AtomicU32::new(0);

fn directory() -> u32 {
    CHOICE.call_once(|| DIRECTORY.store(12, Ordering::Relaxed));
    DIRECTORY.load(Ordering::Relaxed)
}

fn save() {
    let directory = directory();
    assert_ne!(directory, 0, "no directory");
}

fn main() {
    let savers = [thread::spawn(save), thread::spawn(save)];
    for saver in savers {
        saver.join().unwrap();
    }
}
