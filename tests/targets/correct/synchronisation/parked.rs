//! A thread parks until it is told to go, and is woken once before and once after that.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

static GO: AtomicBool = AtomicBool::new(false);

fn main() {
    let worker = thread::spawn(|| {
        while !GO.load(Ordering::Acquire) {
            thread::park();
        }
    });
    worker.thread().unpark();
    GO.store(true, Ordering::Release);
    worker.thread().unpark();
    worker.join().unwrap();
}
