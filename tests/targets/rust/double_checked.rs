//! A cache directory that is chosen when it is first needed, by whoever needs it first.
//!
//! Wrong (double-checked initialisation): the flag is raised before the number of the directory is stored.
//! Finding: panic, in `save`.
//! Preemptions: 1. With 0, the thread that chooses also stores before another one runs. With 1: stop it between the flag and
//! the number, and let the other thread go past the check.
//! Optimisation: sequentially consistent stores keep their order in the machine code.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;

static CHOICE: Mutex<()> = Mutex::new(());
static IS_CHOSEN: AtomicBool = AtomicBool::new(false);
static DIRECTORY: AtomicU32 = AtomicU32::new(0);

fn directory() -> u32 {
    if !IS_CHOSEN.load(Ordering::SeqCst) {
        let _guard = CHOICE.lock().unwrap();
        if !IS_CHOSEN.load(Ordering::SeqCst) {
            IS_CHOSEN.store(true, Ordering::SeqCst);
            DIRECTORY.store(12, Ordering::SeqCst);
        }
    }
    DIRECTORY.load(Ordering::SeqCst)
}

fn save() {
    let directory = directory();
    assert_ne!(directory, 0, "no directory"); // FAILS HERE
}

fn main() {
    let savers = [thread::spawn(save), thread::spawn(save)];
    for saver in savers {
        saver.join().unwrap();
    }
}
