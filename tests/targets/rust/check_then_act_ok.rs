//! A vending machine with two buttons and one can left.
//!
//! Right: `buy` looks and takes with one guard.

use std::process;
use std::sync::Mutex;
use std::thread;

static CANS: Mutex<i32> = Mutex::new(1);

fn buy() {
    let mut left = CANS.lock().unwrap();
    if *left > 0 {
        *left -= 1;
    }
}

fn main() {
    let buttons = [thread::spawn(buy), thread::spawn(buy)];
    for button in buttons {
        button.join().unwrap();
    }
    if *CANS.lock().unwrap() < 0 {
        process::exit(3);
    }
}
