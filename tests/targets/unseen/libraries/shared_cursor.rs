//! Two threads move the position of one `io::Cursor`, and read a slice through one reader; built with `--cfg locked`, under a lock.

use std::cell::UnsafeCell;
use std::io::{Cursor, Read};
use std::sync::{Arc, Mutex};
use std::thread;

struct Reader {
    cursor: UnsafeCell<Cursor<[u8; 4]>>,
    rest: UnsafeCell<&'static [u8]>,
}

// SAFETY: there is none, unless a lock is held.
unsafe impl Sync for Reader {}

fn advance(reader: &Reader, lock: &Mutex<()>) {
    let _guard = cfg!(locked).then(|| lock.lock());
    // SAFETY: as above.
    let (cursor, rest) = unsafe { (&mut *reader.cursor.get(), &mut *reader.rest.get()) };
    let position = cursor.position();
    cursor.set_position(position + 1);
    let mut byte = [0];
    assert_eq!(rest.read(&mut byte).unwrap(), 1);
}

fn main() {
    let reader = Reader { cursor: UnsafeCell::new(Cursor::new([0; 4])), rest: UnsafeCell::new(&[1, 2, 3]) };
    let shared = Arc::new((reader, Mutex::new(())));
    let other = Arc::clone(&shared);
    let thread = thread::spawn(move || advance(&other.0, &other.1));
    advance(&shared.0, &shared.1);
    thread.join().unwrap();
    // SAFETY: there is no other thread any more.
    let (cursor, rest) = unsafe { (&*shared.0.cursor.get(), &*shared.0.rest.get()) };
    assert_eq!((cursor.position(), rest.len()), (2, 1));
}
