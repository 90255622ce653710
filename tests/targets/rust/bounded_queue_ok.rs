//! A bounded queue (a mailbox for one letter): main puts two letters, two readers take one each.
//!
//! Right: both waits test their condition again after they have woken up, with the mutex held.

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
        while slot.is_none() {
            slot = self.is_full.wait(slot).unwrap();
        }
        let letter = slot.take().expect("a letter");
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
