//! The hook of panics is the process's: one thread sets it, and another one's panic calls the one that is there.

use std::panic;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

static CALLED: AtomicBool = AtomicBool::new(false);

fn main() {
    let other = thread::spawn(|| panic::set_hook(Box::new(|_| CALLED.store(true, Ordering::SeqCst))));
    let caught = panic::catch_unwind(|| panic!("caught"));
    assert!(caught.is_err());
    let called = CALLED.load(Ordering::SeqCst);
    other.join().unwrap();
    if called {
        std::process::exit(7);
    }
}
