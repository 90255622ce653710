//! Two buffers, each behind a mutex: one thread copies from one to the other, one clears both.
//!
//! Right: both functions lock the input first.

use std::sync::Mutex;
use std::thread;

static INPUT: Mutex<Vec<u8>> = Mutex::new(Vec::new());
static OUTPUT: Mutex<Vec<u8>> = Mutex::new(Vec::new());

fn copy() {
    let input = INPUT.lock().unwrap();
    let mut output = OUTPUT.lock().unwrap();
    output.extend_from_slice(&input);
}

fn clear() {
    let mut input = INPUT.lock().unwrap();
    let mut output = OUTPUT.lock().unwrap();
    input.clear();
    output.clear();
}

fn main() {
    let copier = thread::spawn(copy);
    let cleaner = thread::spawn(clear);
    copier.join().unwrap();
    cleaner.join().unwrap();
}
