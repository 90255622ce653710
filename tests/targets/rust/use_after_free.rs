//! A service reads its settings through a pointer that is exchanged when they are loaded anew.
//!
//! Wrong (use after free): the old settings are freed when they have been exchanged, and a request may be using them.
//! Finding: use after free, in the thread that serves the request.
//! Preemptions: 1. With 0, the request is served before the settings are exchanged, or after. With 1: stop the request when
//! it has read the pointer, and let the settings be exchanged.

use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::thread;

struct Settings {
    timeout_ms: u64,
}

static SETTINGS: AtomicPtr<Settings> = AtomicPtr::new(ptr::null_mut());

fn load(timeout_ms: u64) -> *mut Settings {
    Box::into_raw(Box::new(Settings { timeout_ms }))
}

fn serve() -> u64 {
    let settings = SETTINGS.load(Ordering::Acquire);
    unsafe { (*settings).timeout_ms } // FAILS HERE
}

fn reload() {
    let old = SETTINGS.swap(load(250), Ordering::AcqRel);
    drop(unsafe { Box::from_raw(old) });
}

fn main() {
    SETTINGS.store(load(500), Ordering::Release);
    let request = thread::spawn(serve);
    let reloader = thread::spawn(reload);
    let timeout_ms = request.join().unwrap();
    reloader.join().unwrap();
    assert!(timeout_ms == 500 || timeout_ms == 250);
}
