//! Two threads take two mutexes in opposite orders, each while it has a third one.

use std::sync::Mutex;
use std::thread;

static GATE: Mutex<()> = Mutex::new(());
static LEFT: Mutex<u32> = Mutex::new(1);
static RIGHT: Mutex<u32> = Mutex::new(2);

fn forth() {
    let _gate = GATE.lock().unwrap();
    let left = LEFT.lock().unwrap();
    *RIGHT.lock().unwrap() += *left;
}

fn back() {
    let _gate = GATE.lock().unwrap();
    let right = RIGHT.lock().unwrap();
    *LEFT.lock().unwrap() += *right;
}

fn main() {
    let threads = [thread::spawn(forth), thread::spawn(back)];
    for thread in threads {
        thread.join().unwrap();
    }
}
