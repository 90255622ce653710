//! Counting views of a page from several threads.

use std::sync::atomic::{AtomicU32, Ordering};

/// The number of views of a page.
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

    /// Their number.
    pub fn count(&self) -> u32 {
        self.0.load(Ordering::SeqCst)
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Write;
    use std::sync::Arc;
    use std::{env, thread};

    use super::*;

    /// One byte more in the file that is asked for, if there is one.
    fn count_execution() {
        if let Some(path) = env::var_os("COUNT_EXECUTIONS") {
            let mut file = File::options().append(true).create(true).open(path).unwrap();
            file.write_all(b".").unwrap();
        }
    }

    /// Views the page twice, and says how often that was.
    fn view_twice(views: &Views, add: fn(&Views)) -> u32 {
        let mut viewed = 0;
        for _ in 0..2 {
            add(views);
            viewed += 1;
        }
        viewed
    }

    fn views_of_two(add: fn(&Views)) -> u32 {
        count_execution();
        let views = Arc::new(Views::default());
        let other = thread::spawn({
            let views = Arc::clone(&views);
            move || view_twice(&views, add)
        });
        view_twice(&views, add);
        other.join().unwrap();
        views.count()
    }

    #[test]
    fn views_are_lost() {
        assert_eq!(views_of_two(Views::add), 4);
    }

    #[test]
    fn views_are_counted() {
        assert_eq!(views_of_two(Views::add_at_once), 4);
    }
}
