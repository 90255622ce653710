//! Two lorries wait before a barrier until the guard lifts it.
//!
//! Wrong (missed notification): the guard wakes one of those who wait, and there can be two.
//! Finding: deadlock, one lorry in its wait, and main in its join of that one.
//! Preemptions: 0. Let both lorries come to the barrier before the guard.

use std::sync::{Arc, Condvar, Mutex};
use std::thread;

struct Barrier {
    is_up: Mutex<bool>,
    moved: Condvar,
}

impl Barrier {
    fn lift(&self) {
        *self.is_up.lock().unwrap() = true;
        self.moved.notify_one();
    }

    fn pass(&self) {
        let is_up = self.is_up.lock().unwrap();
        drop(self.moved.wait_while(is_up, |is_up| !*is_up).unwrap()); // FAILS HERE
    }
}

fn main() {
    let barrier = Arc::new(Barrier { is_up: Mutex::new(false), moved: Condvar::new() });
    let lorries = [(); 2].map(|()| {
        let barrier = Arc::clone(&barrier);
        thread::spawn(move || barrier.pass())
    });
    let guard = {
        let barrier = Arc::clone(&barrier);
        thread::spawn(move || barrier.lift())
    };
    for lorry in lorries {
        lorry.join().unwrap(); // FAILS HERE
    }
    guard.join().unwrap();
}
