//! A shop that gets its orders through a channel.
//!
//! Wrong (order violation, use before initialisation): main sends the order before it sets the price of the article.
//! Finding: panic, in the shop's thread.
//! Preemptions: 1. With 0, main sets the price before it gives way in its join. With 1: stop main after it has sent the
//! order, and let the shop run.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread;

static PRICES: [AtomicU64; 2] = [const { AtomicU64::new(0) }; 2];

fn main() {
    let (orders, incoming) = mpsc::channel::<usize>();
    let shop = thread::spawn(move || {
        let article = incoming.recv().unwrap();
        let price = PRICES[article].load(Ordering::Relaxed);
        assert!(price > 0, "article {article} has no price"); // FAILS HERE
    });
    orders.send(1).unwrap();
    PRICES[1].store(250, Ordering::Relaxed);
    shop.join().unwrap();
}
