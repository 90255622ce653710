//! A bounded queue (a mailbox for one letter): main puts two letters, two readers take one each.
//!
//! Wrong: `take` tests for the empty mailbox with `if` where it needs `while`. Between the notification and the moment at
//! which the woken reader has the mutex again, the other one can take the letter.
//! Finding: panic, in `take`.
//! Preemptions: 1. With 0, main puts its first letter before a reader runs, then blocks on the full mailbox; a reader that
//! waits later is woken for a letter that nobody else is there to take. With 1: stop main before it puts, let the first
//! reader wait; main puts a letter, which wakes it, and blocks; the second reader takes the letter, the first finds none.

use std::sync::{Arc, Condvar, Mutex};
use std::thread;

#[derive(Default)]
struct Mailbox {
    letter: Mutex<Option<u32>>,
    is_full: Condvar,
    is_empty: Condvar,
}

impl Mailbox {
    fn put(&self, letter: u32) {
        let mut slot = self.letter.lock().unwrap();
        while slot.is_some() {
            slot = self.is_empty.wait(slot).unwrap();
        }
        *slot = Some(letter);
        self.is_full.notify_one();
    }

    fn take(&self) -> u32 {
        let mut slot = self.letter.lock().unwrap();
        if slot.is_none() {
            slot = self.is_full.wait(slot).unwrap();
        }
        let letter = slot.take().expect("a letter"); // FAILS HERE
        self.is_empty.notify_one();
        letter
    }
}

fn main() {
    let mailbox = Arc::new(Mailbox::default());
    let readers = [0, 1].map(|_| {
        let mailbox = Arc::clone(&mailbox);
        thread::spawn(move || mailbox.take())
    });
    mailbox.put(1);
    mailbox.put(2);
    let sum: u32 = readers.map(|reader| reader.join().unwrap()).iter().sum();
    assert_eq!(sum, 3);
}
