//! A registry of names that is mostly read.
//!
//! Right: `register` looks again when it has the lock as a writer.

use std::sync::RwLock;
use std::thread;

static NAMES: RwLock<Vec<&str>> = RwLock::new(Vec::new());

fn register(name: &'static str) {
    let is_known = NAMES.read().unwrap().contains(&name);
    if !is_known {
        let mut names = NAMES.write().unwrap();
        if !names.contains(&name) {
            names.push(name);
        }
    }
}

fn main() {
    NAMES.write().unwrap().reserve(2);
    let clients = [thread::spawn(|| register("printer")), thread::spawn(|| register("printer"))];
    for client in clients {
        client.join().unwrap();
    }
    assert_eq!(NAMES.read().unwrap().len(), 1, "a name was registered twice");
}
