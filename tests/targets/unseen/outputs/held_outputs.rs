//! Each thread has the lock of a standard stream, and writes to the other one: by a second guard, by the handle of the stream, or by a macro.
//! With `ordered` both take the locks in the same order.

use std::io::{self, Write};
use std::thread;

fn complains() {
    let _printing = io::stdout().lock();
    if cfg!(guards) {
        drop(io::stderr().lock());
    } else if cfg!(handles) {
        io::stderr().write_all(b"out of paper\n").unwrap();
    } else {
        eprintln!("out of paper");
    }
}

fn prints() {
    if cfg!(ordered) {
        let _printing = io::stdout().lock();
        let _complaining = io::stderr().lock();
        println!("page 1");
        return;
    }
    let _complaining = io::stderr().lock();
    if cfg!(guards) {
        drop(io::stdout().lock());
    } else if cfg!(handles) {
        io::stdout().write_all(b"page 1\n").unwrap();
    } else {
        println!("page 1");
    }
}

fn main() {
    let other = thread::spawn(complains);
    prints();
    other.join().unwrap();
}
