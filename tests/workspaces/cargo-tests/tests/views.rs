//! Tests from outside of the crate.

use std::thread;

use cargo_tests::Views;

mod nested {
    use super::*;

    #[test]
    fn two_threads_are_counted() -> Result<(), String> {
        let views = Views::default();
        thread::scope(|scope| {
            scope.spawn(|| views.add_at_once());
            views.add_at_once();
        });
        if views.count() == 2 { Ok(()) } else { Err(format!("{} views", views.count())) }
    }
}

#[test]
fn a_page_starts_unseen() {
    assert_eq!(Views::default().count(), 0);
}
