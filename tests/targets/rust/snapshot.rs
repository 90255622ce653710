//! A screen: one thread draws a picture into it, another one takes a screenshot.
//!
//! Wrong (torn read): the picture goes to the screen in two halves, under no lock.
//! Finding: panic, in `capture`.
//! Preemptions: 1. Each copy between slices is one event (a call of `memcpy`). With 0, both halves come before the
//! screenshot or behind it. With 1: stop the drawing thread between its copies, and let the other one take its screenshot.
//! Optimisation: how long the slices are is known at run time only, or a compiler might copy them without a call.

use std::cell::UnsafeCell;
use std::thread;

struct Screen(UnsafeCell<[u64; 64]>);

// SAFETY: wrong, which is the point.
unsafe impl Sync for Screen {}

static SCREEN: Screen = Screen(UnsafeCell::new([0; 64]));

fn draw(picture: Vec<u64>) {
    let screen = unsafe { &mut *SCREEN.0.get() };
    let middle = picture.len() / 2;
    screen[..middle].copy_from_slice(&picture[..middle]);
    screen[middle..picture.len()].copy_from_slice(&picture[middle..]);
}

fn capture(mut screenshot: Vec<u64>) {
    let screen = unsafe { &*SCREEN.0.get() };
    let size = screenshot.len();
    screenshot.copy_from_slice(&screen[..size]);
    assert_eq!(screenshot.first(), screenshot.last(), "a picture is torn"); // FAILS HERE
}

fn main() {
    let size = 63 + std::env::args().len();
    let painter = thread::spawn(move || draw(vec![7; size]));
    let camera = thread::spawn(move || capture(vec![0; size]));
    painter.join().unwrap();
    camera.join().unwrap();
}
