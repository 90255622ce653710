//! Three threads increment what a mutex guards.

use std::sync::Mutex;
use std::thread;

static COUNT: Mutex<u32> = Mutex::new(0);

fn main() {
    let others: Vec<_> = (0..2).map(|_| thread::spawn(|| *COUNT.lock().unwrap() += 1)).collect();
    *COUNT.lock().unwrap() += 1;
    others.into_iter().for_each(|other| other.join().unwrap());
    assert_eq!(*COUNT.lock().unwrap(), 3);
}
