//! A screen: one thread draws a picture into it, another one takes a screenshot.
//!
//! Right: both hold the mutex until all rows are copied. (How long a row is is known at run time only, or a compiler might
//! copy it without a call.)

use std::cell::UnsafeCell;
use std::sync::Mutex;
use std::thread;

struct Screen(UnsafeCell<[[u8; 64]; 2]>);

// SAFETY: whoever uses it holds `SCREEN_MUTEX`.
unsafe impl Sync for Screen {}

static SCREEN: Screen = Screen(UnsafeCell::new([[0; 64]; 2]));
static SCREEN_MUTEX: Mutex<()> = Mutex::new(());

#[inline(never)]
fn draw(picture: &[[u8; 64]], width: usize) {
    let _guard = SCREEN_MUTEX.lock().unwrap();
    let screen = unsafe { &mut *SCREEN.0.get() };
    for (row, source) in screen.iter_mut().zip(picture) {
        row[..width].copy_from_slice(&source[..width]);
    }
}

#[inline(never)]
fn capture(screenshot: &mut [[u8; 64]], width: usize) {
    let _guard = SCREEN_MUTEX.lock().unwrap();
    let screen = unsafe { &*SCREEN.0.get() };
    for (row, source) in screenshot.iter_mut().zip(screen) {
        row[..width].copy_from_slice(&source[..width]);
    }
}

fn main() {
    let width = 63 + std::env::args().len();
    let painter = thread::spawn(move || draw(&[[7; 64]; 2], width));
    let camera = thread::spawn(move || {
        let mut screenshot = [[0; 64]; 2];
        capture(&mut screenshot, width);
        assert_eq!(screenshot[0], screenshot[1], "a picture is torn");
    });
    painter.join().unwrap();
    camera.join().unwrap();
}
