//! Two workers add to a collection of the standard library that nothing guards; the argument says which.

use std::cell::UnsafeCell;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::thread;

struct Unguarded<T>(UnsafeCell<T>);

// SAFETY: none, which is what is to be found.
unsafe impl<T> Sync for Unguarded<T> {}

fn two_are_added<T>(collection: T, add: fn(&mut T, u32), count: fn(&T) -> usize) {
    let before = count(&collection);
    let shared = Unguarded(UnsafeCell::new(collection));
    let shared = &shared;
    thread::scope(|scope| {
        for number in [1, 2] {
            scope.spawn(move || add(unsafe { &mut *shared.0.get() }, number));
        }
    });
    assert_eq!(count(unsafe { &*shared.0.get() }), before + 2); // FAILS HERE
}

fn main() {
    // Nothing has to grow: what is lost is an addition, and no memory.
    match std::env::args().nth(1).unwrap().as_str() {
        "Vec" => two_are_added(Vec::with_capacity(8), |all, number| all.push(number), Vec::len),
        "VecDeque" => two_are_added(VecDeque::with_capacity(8), |all, number| all.push_back(number), VecDeque::len),
        "String" => two_are_added(String::with_capacity(8), |all, _| all.push('a'), |all| all.len()),
        "HashMap" => two_are_added(
            HashMap::with_capacity(8),
            |all, number| {
                all.insert(number, number);
            },
            HashMap::len,
        ),
        "BTreeMap" => two_are_added(
            BTreeMap::from([(0, 0)]),
            |all, number| {
                all.insert(number, number);
            },
            BTreeMap::len,
        ),
        other => panic!("there is no {other}"),
    }
}
