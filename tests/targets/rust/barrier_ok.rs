//! Two scales weigh, the second one finds the heaviest weight, then each works out its share of it.
//!
//! Right: a second wait is between finding the heaviest weight and using it.

use std::sync::Barrier;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

static WEIGHED: Barrier = Barrier::new(2);
static WEIGHTS: [AtomicU32; 2] = [const { AtomicU32::new(0) }; 2];
static HEAVIEST: AtomicU32 = AtomicU32::new(0);

fn weigh(own: usize) {
    WEIGHTS[own].store(40 + 20 * own as u32, Ordering::Relaxed);
    WEIGHED.wait();
    if own == 1 {
        let heaviest = WEIGHTS.iter().map(|weight| weight.load(Ordering::Relaxed)).max();
        HEAVIEST.store(heaviest.unwrap_or(0), Ordering::Relaxed);
    }
    WEIGHED.wait();
    let share = 100 * WEIGHTS[own].load(Ordering::Relaxed) / HEAVIEST.load(Ordering::Relaxed);
    assert!(share <= 100);
}

fn main() {
    let scales = [thread::spawn(|| weigh(0)), thread::spawn(|| weigh(1))];
    for scale in scales {
        scale.join().unwrap();
    }
}
