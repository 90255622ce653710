//! Two lorries wait before a barrier until the guard lifts it.
//!
//! Right: the guard wakes all who wait.

use std::sync::{Arc, Condvar, Mutex};
use std::thread;

struct Barrier {
    is_up: Mutex<bool>,
    moved: Condvar,
}

impl Barrier {
    fn lift(&self) {
        *self.is_up.lock().unwrap() = true;
        self.moved.notify_all();
    }

    fn pass(&self) {
        let is_up = self.is_up.lock().unwrap();
        drop(self.moved.wait_while(is_up, |is_up| !*is_up).unwrap());
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
        lorry.join().unwrap();
    }
    guard.join().unwrap();
}
