//! Two buffers, each behind a mutex: one thread copies from one to the other, one clears both.
//!
//! Wrong (lock order): `copy` locks the input first, `clear` the output.
//! Finding: deadlock, both threads at their second lock and main in its join.
//! Preemptions: 1. With 0, each function takes both locks back to back. With 1: stop `copy` between its two locks, and let
//! `clear` run until it blocks.

use std::sync::Mutex;
use std::thread;

static INPUT: Mutex<Vec<u8>> = Mutex::new(Vec::new());
static OUTPUT: Mutex<Vec<u8>> = Mutex::new(Vec::new());

fn copy() {
    let input = INPUT.lock().unwrap();
    let mut output = OUTPUT.lock().unwrap(); // FAILS HERE
    output.extend_from_slice(&input);
}

fn clear() {
    let mut output = OUTPUT.lock().unwrap();
    let mut input = INPUT.lock().unwrap(); // FAILS HERE
    input.clear();
    output.clear();
}

fn main() {
    let copier = thread::spawn(copy);
    let cleaner = thread::spawn(clear);
    copier.join().unwrap(); // FAILS HERE
    cleaner.join().unwrap();
}
