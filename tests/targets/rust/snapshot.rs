//! A screen: one thread draws a picture into it, another one takes a screenshot.
//!
//! Wrong (torn read): the picture goes to the screen row by row, and so does the screen to the screenshot, under no lock.
//! Finding: panic, in `main::{closure}`, behind `capture`.
//! Preemptions: 1. Each row is one event (a call of `memcpy`). With 0, all rows are drawn before the screenshot or behind
//! it. With 1: stop either thread between its rows, and let the other one run.
//! Optimisation: how long a row is is known at run time only, or a compiler might copy it without a call. In a loop, an
//! optimising compiler makes the call through a register; without optimisation, the standard library makes it.

use std::cell::UnsafeCell;
use std::thread;

struct Screen(UnsafeCell<[[u8; 64]; 2]>);

// SAFETY: wrong, which is the point.
unsafe impl Sync for Screen {}

static SCREEN: Screen = Screen(UnsafeCell::new([[0; 64]; 2]));

#[inline(never)]
fn draw(picture: &[[u8; 64]], width: usize) {
    let screen = unsafe { &mut *SCREEN.0.get() };
    for (row, source) in screen.iter_mut().zip(picture) {
        row[..width].copy_from_slice(&source[..width]);
    }
}

#[inline(never)]
fn capture(screenshot: &mut [[u8; 64]], width: usize) {
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
        assert_eq!(screenshot[0], screenshot[1], "a picture is torn"); // FAILS HERE
    });
    painter.join().unwrap();
    camera.join().unwrap();
}
