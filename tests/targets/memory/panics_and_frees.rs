//! Two threads use a box, and whoever is done with it last frees it. One of them panics in between, and catches that.

use std::panic::{catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

static USERS: AtomicU32 = AtomicU32::new(2);
static STEPS: AtomicU32 = AtomicU32::new(0);

fn leave(address: usize) {
    let number = address as *mut u32;
    // SAFETY: it is freed by the last one to use it.
    assert_eq!(unsafe { number.read() }, 7);
    if USERS.fetch_sub(1, Ordering::AcqRel) == 1 {
        drop(unsafe { Box::from_raw(number) });
    }
}

fn main() {
    let address = Box::into_raw(Box::new(7)) as usize;
    let other = thread::spawn(move || {
        leave(address);
        STEPS.fetch_add(1, Ordering::Relaxed);
        catch_unwind(|| resume_unwind(Box::new(()))).unwrap_err();
        STEPS.fetch_add(1, Ordering::Relaxed);
    });
    leave(address);
    STEPS.fetch_add(1, Ordering::Relaxed);
    other.join().unwrap();
}
