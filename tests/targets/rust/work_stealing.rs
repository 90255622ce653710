//! A work-stealing deque of two tasks: the owner (main) pops at the bottom, a thief steals at the top.
//!
//! Wrong: owner and thief can both want the last task. The thief claims it by moving `TOP`; the owner has to do the same,
//! but takes it without asking.
//! Finding: panic, in `run`, in the thief.
//! Preemptions: 2. The thief has to look at `TOP` and `BOTTOM` while the owner has tasks left, and the owner blocks nowhere
//! before its join: one preemption, of the owner. The thief must then stop before its compare-and-swap while the owner
//! takes the task: another one. If the thief runs undivided, the owner sees it: it reads `TOP` after moving `BOTTOM`.
//! (For the owner to be the one that runs the task again, it has to be stopped once more, before it does: 3.)

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
    assert_eq!(before, 0, "task {task} runs twice"); // FAILS HERE
}

fn main() {
    let thief = thread::spawn(|| steal().into_iter().for_each(run));
    while let Some(task) = pop() {
        run(task);
    }
    thief.join().unwrap();
}
