//! A vending machine with two buttons and one can left.
//!
//! Wrong (atomicity violation): `buy` looks with one guard and takes with another. Between them the other button can take
//! the can.
//! Finding: exit-code (3, more cans sold than there were), in `main`.
//! Preemptions: 1. With 0, the mutex is free whenever a thread asks for it, so each purchase runs undivided. With 1: stop
//! the first buyer after the look and before the sale, and let the other one buy.

use std::process;
use std::sync::Mutex;
use std::thread;

static CANS: Mutex<i32> = Mutex::new(1);

fn buy() {
    let left = *CANS.lock().unwrap();
    if left > 0 {
        *CANS.lock().unwrap() -= 1;
    }
}

fn main() {
    let buttons = [thread::spawn(buy), thread::spawn(buy)];
    for button in buttons {
        button.join().unwrap();
    }
    if *CANS.lock().unwrap() < 0 {
        process::exit(3); // FAILS HERE
    }
}
