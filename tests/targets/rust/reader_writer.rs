//! A registry of names that is mostly read.
//!
//! Wrong (reader/writer mistake): `register` looks as a reader and inserts as a writer, and does not look again. Between
//! the two another client can insert the same name.
//! Finding: panic, in `main`.
//! Preemptions: 1. With 0, the lock is free whenever a client asks for it, so each one runs undivided. With 1: stop the
//! first client between its two locks, and let the other one register.

use std::sync::RwLock;
use std::thread;

static NAMES: RwLock<Vec<&str>> = RwLock::new(Vec::new());

fn register(name: &'static str) {
    let is_known = NAMES.read().unwrap().contains(&name);
    if !is_known {
        NAMES.write().unwrap().push(name);
    }
}

fn main() {
    NAMES.write().unwrap().reserve(2);
    let clients = [thread::spawn(|| register("printer")), thread::spawn(|| register("printer"))];
    for client in clients {
        client.join().unwrap();
    }
    assert_eq!(NAMES.read().unwrap().len(), 1, "a name was registered twice"); // FAILS HERE
}
