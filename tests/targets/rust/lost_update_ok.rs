//! Two mirrors count the downloads of a file.
//!
//! Right: `fetch_add` is one indivisible operation.

use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

static DOWNLOADS: AtomicU32 = AtomicU32::new(0);

fn download() {
    DOWNLOADS.fetch_add(1, Ordering::SeqCst);
}

fn main() {
    let mirrors = [thread::spawn(download), thread::spawn(download)];
    for mirror in mirrors {
        mirror.join().unwrap();
    }
    assert_eq!(DOWNLOADS.load(Ordering::SeqCst), 2);
}
