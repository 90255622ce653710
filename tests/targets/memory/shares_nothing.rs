//! Two threads that work on collections of their own, and hand them over when they end.

use std::collections::{BTreeMap, HashMap};
use std::thread;

fn count(numbers: std::ops::Range<u32>) -> (Vec<String>, HashMap<u32, u32>, BTreeMap<u32, u32>) {
    let words = numbers.clone().map(|number| format!("number {number}")).collect();
    (words, numbers.clone().map(|number| (number, number)).collect(), numbers.map(|number| (number, 0)).collect())
}

fn main() {
    let [low, high] = [0..20, 20..40].map(|numbers| thread::spawn(move || count(numbers)));
    let ((words, _, _), (_, map, tree)) = (low.join().unwrap(), high.join().unwrap());
    assert_eq!((words.len(), map.len(), tree.len()), (20, 20, 20));
}
