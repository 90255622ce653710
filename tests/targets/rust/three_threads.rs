//! A power supply: the grid can fail for a moment, a switch then goes to battery and back, a heavy load starts.
//!
//! Wrong (a window within a window): nothing keeps the heavy load from starting while the battery is in use.
//! Finding: assertion (abort), in `start_heavy_load`.
//! Preemptions: 2, in three threads. The load fails only between the two stores to `ON_BATTERY`: one preemption, of the
//! switch. The switch makes them only if it has looked between the two stores to `HAS_POWER`: another one, of the grid.
//! Nobody blocks in between.

use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

static HAS_POWER: AtomicBool = AtomicBool::new(true);
static ON_BATTERY: AtomicBool = AtomicBool::new(false);

fn grid() {
    HAS_POWER.store(false, Ordering::SeqCst);
    HAS_POWER.store(true, Ordering::SeqCst);
}

fn switch_over() {
    if !HAS_POWER.load(Ordering::SeqCst) {
        ON_BATTERY.store(true, Ordering::SeqCst);
        ON_BATTERY.store(false, Ordering::SeqCst);
    }
}

fn start_heavy_load() {
    if ON_BATTERY.load(Ordering::SeqCst) {
        process::abort(); // FAILS HERE
    }
}

fn main() {
    let parts = [thread::spawn(grid), thread::spawn(switch_over), thread::spawn(start_heavy_load)];
    for part in parts {
        part.join().unwrap();
    }
}
