//! A shelf with one book: the cleaner waits until the book has gone, a reader until one comes.
//!
//! Wrong (missed notification): who borrows the book tells those who wait for one to come, and not those who wait for it to go.
//! Finding: deadlock, the cleaner and the reader in their waits, and main in its join of the cleaner. The reader has no reason
//! to go on: main brings another book once the shelf is clean.
//! Preemptions: 0. Let the cleaner come before the borrower.

use std::sync::{Condvar, Mutex};
use std::thread;

static BOOKS: Mutex<u32> = Mutex::new(1);
static HAS_COME: Condvar = Condvar::new();
static HAS_GONE: Condvar = Condvar::new();

fn borrow() {
    let mut books = BOOKS.lock().unwrap();
    if *books > 0 {
        *books -= 1;
        HAS_COME.notify_one();
    }
}

fn clean() {
    let mut books = BOOKS.lock().unwrap();
    while *books > 0 {
        books = HAS_GONE.wait(books).unwrap(); // FAILS HERE
    }
}

fn read() {
    let mut books = BOOKS.lock().unwrap();
    while *books == 0 {
        books = HAS_COME.wait(books).unwrap(); // FAILS HERE
    }
}

fn main() {
    let cleaner = thread::spawn(clean);
    let borrower = thread::spawn(borrow);
    let reader = thread::spawn(read);
    cleaner.join().unwrap(); // FAILS HERE
    *BOOKS.lock().unwrap() = 1;
    HAS_COME.notify_one();
    borrower.join().unwrap();
    reader.join().unwrap();
}
