//! Small functions, each of which shows one way in which compilers access memory.

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering};

#[unsafe(no_mangle)]
static mut COUNTER: u32 = 0;
#[unsafe(no_mangle)]
static HITS: AtomicU32 = AtomicU32::new(0);

thread_local! {
    static OWN: Cell<u32> = const { Cell::new(0) };
}

#[unsafe(no_mangle)]
#[inline(never)]
pub fn increment() {
    // SAFETY: this program is compiled and looked at, never run.
    unsafe { COUNTER = COUNTER.wrapping_add(1) };
}

#[unsafe(no_mangle)]
#[inline(never)]
pub fn fetch_add() -> u32 {
    HITS.fetch_add(2, Ordering::SeqCst)
}

#[unsafe(no_mangle)]
#[inline(never)]
pub fn compare_exchange(from: u32, to: u32) -> bool {
    HITS.compare_exchange(from, to, Ordering::SeqCst, Ordering::SeqCst).is_ok()
}

#[unsafe(no_mangle)]
#[inline(never)]
pub fn own_copy() -> u32 {
    OWN.set(OWN.get() + 1);
    OWN.get()
}

#[unsafe(no_mangle)]
#[inline(never)]
pub fn copy(to: &mut [u8], from: &[u8]) {
    to.copy_from_slice(from);
}

fn main() {
    increment();
    let mut buffer = [0; 4];
    copy(&mut buffer, &[1, 2, 3, 4]);
    println!("{} {} {} {buffer:?}", fetch_add(), compare_exchange(2, 3), own_copy());
}
