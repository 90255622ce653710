//! Unit tests as a test framework builds them.

#[test]
fn a_thread_adds() {
    let adder = std::thread::spawn(|| 1 + 1);
    assert_eq!(adder.join().unwrap(), 2);
}
