//! A thread takes a lock for reading that it has for reading, and a writer that came in between waits for it: the standard
//! library lets no reader in while a writer waits.

use std::sync::RwLock;
use std::thread;

static TABLE: RwLock<Vec<u32>> = RwLock::new(Vec::new());

fn len() -> usize {
    TABLE.read().unwrap().len()
}

fn main() {
    let writer = thread::spawn(|| TABLE.write().unwrap().clear());
    let table = TABLE.read().unwrap();
    assert_eq!(table.len(), len());
    drop(table);
    writer.join().unwrap();
}
