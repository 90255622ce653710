//! A screen: one thread draws a picture into it, another one takes a screenshot.
//!
//! Right: both hold the mutex for as long as they copy. (How long the slices are is known at run time only, or a compiler
//! might copy them without a call.)

use std::cell::UnsafeCell;
use std::sync::Mutex;
use std::thread;

struct Screen(UnsafeCell<[u64; 64]>);

// SAFETY: whoever uses it holds `SCREEN_MUTEX`.
unsafe impl Sync for Screen {}

static SCREEN: Screen = Screen(UnsafeCell::new([0; 64]));
static SCREEN_MUTEX: Mutex<()> = Mutex::new(());

fn draw(picture: Vec<u64>) {
    let _guard = SCREEN_MUTEX.lock().unwrap();
    let screen = unsafe { &mut *SCREEN.0.get() };
    let middle = picture.len() / 2;
    screen[..middle].copy_from_slice(&picture[..middle]);
    screen[middle..picture.len()].copy_from_slice(&picture[middle..]);
}

fn capture(mut screenshot: Vec<u64>) {
    let guard = SCREEN_MUTEX.lock().unwrap();
    let screen = unsafe { &*SCREEN.0.get() };
    let size = screenshot.len();
    screenshot.copy_from_slice(&screen[..size]);
    drop(guard);
    assert_eq!(screenshot.first(), screenshot.last(), "a picture is torn");
}

fn main() {
    let size = 63 + std::env::args().len();
    let painter = thread::spawn(move || draw(vec![7; size]));
    let camera = thread::spawn(move || capture(vec![0; size]));
    painter.join().unwrap();
    camera.join().unwrap();
}
