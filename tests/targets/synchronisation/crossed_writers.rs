//! Two threads take two locks for writing, in either order.

use std::sync::RwLock;
use std::thread;

static STOCK: RwLock<u32> = RwLock::new(9);
static ORDERS: RwLock<u32> = RwLock::new(1);

fn sell() {
    let mut orders = ORDERS.write().unwrap();
    let mut stock = STOCK.write().unwrap();
    *stock -= 1;
    *orders += 1;
}

fn cancel() {
    let mut stock = STOCK.write().unwrap();
    let mut orders = ORDERS.write().unwrap();
    *stock += 1;
    *orders -= 1;
}

fn main() {
    let both = [thread::spawn(sell), thread::spawn(cancel)];
    for thread in both {
        thread.join().unwrap();
    }
}
