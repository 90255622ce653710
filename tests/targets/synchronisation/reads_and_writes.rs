//! Two threads read what a lock guards, and one of them writes it as well.

use std::sync::RwLock;
use std::thread;

static COUNT: RwLock<u32> = RwLock::new(0);

fn main() {
    let reader = thread::spawn(|| assert!(*COUNT.read().unwrap() < 2));
    let before = *COUNT.read().unwrap();
    *COUNT.write().unwrap() += 1;
    reader.join().unwrap();
    assert_eq!(*COUNT.read().unwrap(), before + 1);
}
