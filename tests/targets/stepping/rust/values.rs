//! Variables of Rust's library at a failing line. One preemption between load and store loses an addition.

use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::thread;

#[derive(Debug)]
enum Shape {
    Circle { radius: f64 },
    Empty,
}

fn main() {
    let name = String::from("a name");
    let numbers = vec![1, 2, 3];
    let some = Some(5);
    let shapes = [Shape::Circle { radius: 1.5 }, Shape::Empty];
    let balance = Mutex::new(41);
    let counter = Arc::new(AtomicU32::new(0));
    let other = Arc::clone(&counter);
    let adder = thread::spawn(move || other.store(other.load(SeqCst) + 1, SeqCst));
    counter.store(counter.load(SeqCst) + 1, SeqCst);
    adder.join().unwrap();
    assert_eq!(counter.load(SeqCst), 2, "{name} {numbers:?} {some:?} {shapes:?} {balance:?}"); // FAILS HERE
}
