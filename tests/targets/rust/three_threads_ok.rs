//! A power supply: the grid can fail for a moment, a switch then goes to battery and back, a heavy load starts.
//!
//! Right: the switch is on battery only while it holds the mutex that the heavy load takes to start.

use std::process;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

static SUPPLY: Mutex<()> = Mutex::new(());
static HAS_POWER: AtomicBool = AtomicBool::new(true);
static ON_BATTERY: AtomicBool = AtomicBool::new(false);

fn grid() {
    HAS_POWER.store(false, Ordering::SeqCst);
    HAS_POWER.store(true, Ordering::SeqCst);
}

fn switch_over() {
    if !HAS_POWER.load(Ordering::SeqCst) {
        let _guard = SUPPLY.lock().unwrap();
        ON_BATTERY.store(true, Ordering::SeqCst);
        ON_BATTERY.store(false, Ordering::SeqCst);
    }
}

fn start_heavy_load() {
    let _guard = SUPPLY.lock().unwrap();
    if ON_BATTERY.load(Ordering::SeqCst) {
        process::abort();
    }
}

fn main() {
    let parts = [thread::spawn(grid), thread::spawn(switch_over), thread::spawn(start_heavy_load)];
    for part in parts {
        part.join().unwrap();
    }
}
