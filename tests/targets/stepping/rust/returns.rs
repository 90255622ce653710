//! An update gets lost, which `main` tells by what it returns. The words in comments name lines for the tests.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread;

fn main() -> Result<(), String> {
    let total = Arc::new(AtomicU32::new(0));
    let other = Arc::clone(&total);
    let adder = thread::spawn(move || other.store(other.load(SeqCst) + 1, SeqCst));
    total.store(total.load(SeqCst) + 1, SeqCst);
    adder.join().unwrap();
    let counted = total.load(SeqCst); // count
    if counted == 2 {
        return Ok(());
    }
    Err(format!("{counted} of 2")) // RETURNS
}
