//! Two threads use what belongs to owners of all kinds, and whoever is done with it last frees it. With the number of an owner as
//! argument, what belongs to this one is freed by whoever is done with it first.

use std::alloc::{Layout, alloc, alloc_zeroed, dealloc, realloc};
use std::cell::UnsafeCell;
use std::collections::{BTreeMap, LinkedList};
use std::panic::{catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::{env, process, thread};

/// A value, and what frees it.
struct Owned {
    value: *const u32,
    give_back: Box<dyn FnOnce()>,
}

fn owned(value: *const u32, give_back: impl FnOnce() + 'static) -> Owned {
    Owned { value, give_back: Box::new(give_back) }
}

#[repr(align(64))]
struct Wide(u32);

trait Shape {
    fn corners(&self) -> &u32;
}

struct Square {
    corners: u32,
    _lengths: [u32; 8],
}

impl Shape for Square {
    fn corners(&self) -> &u32 {
        &self.corners
    }
}

const ONE: Layout = Layout::new::<u32>();

const OWNERS: [fn() -> Owned; 9] = [
    || {
        let number = Box::new(1);
        owned(&*number, || drop(number))
    },
    || {
        let wide = Box::new(Wide(1));
        owned(&wide.0, || drop(wide))
    },
    || {
        let shape: Box<dyn Shape> = Box::new(Square { corners: 1, _lengths: [0; 8] });
        owned(shape.corners(), || drop(shape))
    },
    || {
        let mut list = vec![1];
        owned(list.as_ptr(), move || list.push(2))
    },
    || {
        let number = Arc::new(1);
        owned(Arc::as_ptr(&number), || drop(number))
    },
    || {
        let mut map = BTreeMap::from([(7, 1)]);
        owned(&map[&7], move || {
            map.remove(&7);
        })
    },
    || {
        let mut queue = LinkedList::from([1]);
        owned(queue.front().unwrap(), move || {
            queue.pop_front();
        })
    },
    || {
        // SAFETY: of the size and the alignment of what is written, and freed as it was obtained.
        let number = unsafe { alloc_zeroed(ONE) }.cast::<u32>();
        unsafe { number.write(1) };
        owned(number, move || unsafe { dealloc(number.cast(), ONE) })
    },
    || {
        // SAFETY: as above.
        let number = unsafe { alloc(ONE) }.cast::<u32>();
        unsafe { number.write(1) };
        owned(number, move || unsafe {
            let larger = realloc(number.cast(), ONE, 1 << 20);
            dealloc(larger, Layout::from_size_align_unchecked(1 << 20, ONE.align()));
        })
    },
];

struct Entry {
    what: UnsafeCell<Option<Owned>>,
    users: AtomicUsize,
}

// SAFETY: whoever takes the value out is the last to use it, but where the program is asked to go wrong.
unsafe impl Sync for Entry {}

static ENTRIES: [Entry; OWNERS.len()] =
    [const { Entry { what: UnsafeCell::new(None), users: AtomicUsize::new(2) } }; OWNERS.len()];

fn obtain_every_second(first: usize) {
    for kind in (first..OWNERS.len()).step_by(2) {
        // SAFETY: nobody else is there yet.
        unsafe { *ENTRIES[kind].what.get() = Some(OWNERS[kind]()) };
    }
}

fn use_all(careless: usize) {
    for (kind, entry) in ENTRIES.iter().enumerate() {
        // SAFETY: it is taken out below, by the last one.
        let Some(what) = (unsafe { &*entry.what.get() }) else { process::abort() };
        let value = what.value;
        // SAFETY: as above.
        let is_intact = unsafe { value.read() } == 1; // FAILS HERE
        if !is_intact {
            process::abort();
        }
        if kind == careless || entry.users.fetch_sub(1, Ordering::AcqRel) == 1 {
            // SAFETY: the pointer to the value stays where the closure has been.
            let give_back = unsafe { std::ptr::read(&what.give_back) };
            give_back();
        }
    }
}

/// Memory of one thread, and memory that the library itself shares.
fn do_chores(log: &Mutex<Vec<String>>, name: Arc<String>, sender: Sender<Box<u32>>) {
    let weak = Arc::downgrade(&name);
    let caught = catch_unwind(|| resume_unwind(Box::new(7_u32))).unwrap_err();
    sender.send(caught.downcast().unwrap()).unwrap();
    log.lock().unwrap().push(format!("{} is done", weak.upgrade().unwrap()));
}

fn main() {
    let careless = env::args().nth(1).map_or(usize::MAX, |kind| kind.parse().unwrap());
    obtain_every_second(0);
    let log: Arc<Mutex<Vec<String>>> = Arc::default();
    let name = Arc::new("thread".to_owned());
    let (sender, receiver): (Sender<Box<u32>>, Receiver<Box<u32>>) = channel();
    let first = thread::spawn({
        let log = Arc::clone(&log);
        move || {
            obtain_every_second(1);
            thread::scope(|scope| {
                let (other_name, other_sender, log) = (Arc::clone(&name), sender.clone(), &log);
                scope.spawn(move || {
                    use_all(careless);
                    do_chores(log, other_name, other_sender);
                });
                use_all(careless);
                do_chores(log, name, sender);
            });
        }
    });
    let sum: u32 = receiver.iter().map(|number| *number).sum();
    first.join().unwrap();
    assert_eq!((sum, log.lock().unwrap().len()), (14, 2));
}
