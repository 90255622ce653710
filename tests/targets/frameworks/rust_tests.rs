//! Tests in one binary, as Rust's own harness runs them: each is to be explored as if it were alone.

use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::thread;

/// Two preemption-free schedules are correct; one preemption between load and store loses an addition.
#[test]
fn loses_an_update() {
    let total = Arc::new(AtomicU32::new(0));
    let other = Arc::clone(&total);
    let adder = thread::spawn(move || other.store(other.load(SeqCst) + 1, SeqCst));
    total.store(total.load(SeqCst) + 1, SeqCst);
    adder.join().unwrap();
    assert_eq!(total.load(SeqCst), 2);
}

#[test]
fn adds() {
    let total = Arc::new(AtomicU32::new(0));
    let other = Arc::clone(&total);
    let adder = thread::spawn(move || other.fetch_add(1, SeqCst));
    total.fetch_add(1, SeqCst);
    adder.join().unwrap();
    assert_eq!(total.load(SeqCst), 2);
}

/// One preemption between the two locks of a thread.
#[test]
fn locks_in_two_orders() {
    let locks = Arc::new((Mutex::new(0), Mutex::new(0)));
    let others = Arc::clone(&locks);
    let other = thread::spawn(move || {
        let _second = others.1.lock().unwrap();
        let _first = others.0.lock().unwrap();
    });
    {
        let _first = locks.0.lock().unwrap();
        let _second = locks.1.lock().unwrap();
    }
    other.join().unwrap();
}

#[test]
#[should_panic]
fn panics_as_it_should() {
    thread::spawn(|| ()).join().unwrap();
    panic!("as it should");
}

/// The harness ends the process while the thread still runs.
#[test]
fn leaves_a_thread_behind() {
    thread::spawn(|| {
        loop {
            thread::yield_now();
        }
    });
}

/// Loses an update as above, and tells it by what it returns.
#[test]
fn returns_an_error() -> Result<(), String> {
    let total = Arc::new(AtomicU32::new(0));
    let other = Arc::clone(&total);
    let adder = thread::spawn(move || other.store(other.load(SeqCst) + 1, SeqCst));
    total.store(total.load(SeqCst) + 1, SeqCst);
    adder.join().unwrap();
    let counted = total.load(SeqCst);
    if counted == 2 {
        return Ok(());
    }
    Err(format!("{counted} of 2")) // RETURNS AN ERROR
}

/// Panics, as it should, unless an update is lost.
#[test]
#[should_panic]
fn does_not_always_panic() {
    let total = Arc::new(AtomicU32::new(0));
    let other = Arc::clone(&total);
    let adder = thread::spawn(move || other.store(other.load(SeqCst) + 1, SeqCst));
    total.store(total.load(SeqCst) + 1, SeqCst);
    adder.join().unwrap();
    assert_ne!(total.load(SeqCst), 2); // DOES NOT PANIC
}

/// Two threads print, into the buffer that the harness captures them in.
#[test]
fn prints_from_two_threads() {
    let printer = thread::spawn(|| println!("one"));
    println!("other");
    printer.join().unwrap();
}
