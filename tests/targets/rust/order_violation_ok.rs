//! A shop that gets its orders through a channel.
//!
//! Right: the price is set before the order is sent, and the channel orders what is done before sending before what is
//! done after receiving.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread;

static PRICES: [AtomicU64; 2] = [const { AtomicU64::new(0) }; 2];

fn main() {
    let (orders, incoming) = mpsc::channel::<usize>();
    let shop = thread::spawn(move || {
        let article = incoming.recv().unwrap();
        let price = PRICES[article].load(Ordering::Relaxed);
        assert!(price > 0, "article {article} has no price");
    });
    PRICES[1].store(250, Ordering::Relaxed);
    orders.send(1).unwrap();
    shop.join().unwrap();
}
