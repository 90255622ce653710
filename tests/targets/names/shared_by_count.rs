//! Two workers lose an update of a counter that is shared by reference counting: the library allocates it for a function.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

fn make_counter() -> Arc<AtomicU32> {
    Arc::new(AtomicU32::new(0))
}

fn count(counter: &AtomicU32) {
    let seen = counter.load(Ordering::SeqCst);
    counter.store(seen + 1, Ordering::SeqCst);
}

fn main() {
    let counter = make_counter();
    let other = thread::spawn({
        let counter = Arc::clone(&counter);
        move || count(&counter)
    });
    count(&counter);
    other.join().unwrap();
    assert_eq!(counter.load(Ordering::SeqCst), 2); // FAILS HERE
}
