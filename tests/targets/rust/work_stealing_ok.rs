//! A work-stealing deque of two tasks: the owner (main) pops at the bottom, a thief steals at the top.
//!
//! Right: for the last task both must move `TOP` by compare-and-swap, and one of them wins. Any other task the owner has
//! for itself: a thief that still sees it has looked at `TOP` before, and steals a lower one or fails.

use std::sync::atomic::{AtomicIsize, AtomicU32, Ordering::SeqCst};
use std::thread;

const TASKS: usize = 2;

static TOP: AtomicIsize = AtomicIsize::new(0);
static BOTTOM: AtomicIsize = AtomicIsize::new(TASKS as isize);
static TIMES_RUN: [AtomicU32; TASKS] = [const { AtomicU32::new(0) }; TASKS];

/// The owner takes the task at the bottom.
fn pop() -> Option<isize> {
    let last = BOTTOM.load(SeqCst) - 1;
    BOTTOM.store(last, SeqCst);
    let first = TOP.load(SeqCst);
    if first > last {
        BOTTOM.store(last + 1, SeqCst);
        return None;
    }
    if first == last {
        let won = TOP.compare_exchange(first, first + 1, SeqCst, SeqCst).is_ok();
        BOTTOM.store(last + 1, SeqCst);
        return won.then_some(last);
    }
    Some(last)
}

/// A thief takes the task at the top.
fn steal() -> Option<isize> {
    let first = TOP.load(SeqCst);
    if first >= BOTTOM.load(SeqCst) {
        return None;
    }
    TOP.compare_exchange(first, first + 1, SeqCst, SeqCst).ok()
}

fn run(task: isize) {
    let before = TIMES_RUN[task as usize].fetch_add(1, SeqCst);
    assert_eq!(before, 0, "task {task} runs twice");
}

fn main() {
    let thief = thread::spawn(|| steal().into_iter().for_each(run));
    while let Some(task) = pop() {
        run(task);
    }
    thief.join().unwrap();
}
