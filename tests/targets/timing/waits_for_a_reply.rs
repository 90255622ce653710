//! A receiver that gives up after 50 ms expects its reply by then. The sender replies at once, and could be kept from it.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

fn main() {
    let (sender, receiver) = mpsc::channel();
    let replies = thread::spawn(move || sender.send(7));
    let reply = receiver.recv_timeout(Duration::from_millis(50));
    assert_eq!(reply, Ok(7)); // FAILS HERE
    let _ = replies.join();
}
