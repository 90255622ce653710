//! A service reads its settings through a pointer that is exchanged when they are loaded anew.
//!
//! Right: the old settings are freed when no request is left that may be using them.

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
    unsafe { (*settings).timeout_ms }
}

fn reload() -> usize {
    SETTINGS.swap(load(250), Ordering::AcqRel) as usize
}

fn main() {
    SETTINGS.store(load(500), Ordering::Release);
    let request = thread::spawn(serve);
    let reloader = thread::spawn(reload);
    let timeout_ms = request.join().unwrap();
    let old = reloader.join().unwrap();
    drop(unsafe { Box::from_raw(old as *mut Settings) });
    assert!(timeout_ms == 500 || timeout_ms == 250);
}
