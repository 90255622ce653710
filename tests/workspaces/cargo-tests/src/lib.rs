//! Counting views of a page from several threads.

use std::sync::atomic::{AtomicU32, Ordering};

/// How often a page was seen.
#[derive(Default)]
pub struct Views(AtomicU32);

impl Views {
    /// One more view. Wrong (lost update): what another thread adds in between is lost.
    pub fn add(&self) {
        let seen = self.0.load(Ordering::SeqCst);
        self.0.store(seen + 1, Ordering::SeqCst);
    }

    /// One more view, correctly.
    pub fn add_at_once(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }

    /// How many there were.
    pub fn count(&self) -> u32 {
        self.0.load(Ordering::SeqCst)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::thread;

    use super::*;

    fn views_of_two(add: fn(&Views)) -> u32 {
        let views = Arc::new(Views::default());
        let other = thread::spawn({
            let views = Arc::clone(&views);
            move || add(&views)
        });
        add(&views);
        other.join().unwrap();
        views.count()
    }

    #[test]
    fn views_are_lost() {
        assert_eq!(views_of_two(Views::add), 2);
    }

    #[test]
    fn views_are_counted() {
        assert_eq!(views_of_two(Views::add_at_once), 2);
    }
}
