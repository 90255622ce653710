//! Two threads move money between two accounts, each taking its own account first.

use std::sync::{Arc, Mutex};
use std::thread;

struct Account {
    balance: Mutex<i64>,
    limit: i64,
}

fn open(limit: i64) -> Arc<Account> {
    Arc::new(Account { balance: Mutex::new(10), limit })
}

fn transfer(from: &Account, to: &Account) {
    let mut source = from.balance.lock().unwrap();
    let mut target = to.balance.lock().unwrap();
    if *source - 5 >= from.limit {
        *source -= 5;
        *target += 5;
    }
}

fn main() {
    let (current, savings) = (open(0), open(5));
    let other = (Arc::clone(&current), Arc::clone(&savings));
    let thread = thread::spawn(move || transfer(&other.1, &other.0));
    transfer(&current, &savings);
    thread.join().unwrap();
}
