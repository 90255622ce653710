//! Two mirrors count the downloads of a file.
//!
//! Wrong (lost update): a load and a store are not one operation. What the other mirror counts in between is lost.
//! Finding: panic, in `main`.
//! Preemptions: 1. With 0, each mirror loads and stores back to back. With 1: stop the first mirror between its load and
//! its store, and let the other one run to its end.

use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

static DOWNLOADS: AtomicU32 = AtomicU32::new(0);

fn download() {
    let before = DOWNLOADS.load(Ordering::SeqCst);
    DOWNLOADS.store(before + 1, Ordering::SeqCst);
}

fn main() {
    let mirrors = [thread::spawn(download), thread::spawn(download)];
    for mirror in mirrors {
        mirror.join().unwrap();
    }
    assert_eq!(DOWNLOADS.load(Ordering::SeqCst), 2); // FAILS HERE
}
