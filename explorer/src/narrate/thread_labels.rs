//! Short names for the threads of one execution: T1 is the main thread, or the test's own one where a harness runs a test;
//! the others follow by creation path. Timers are numbered by themselves.

use std::collections::BTreeSet;

use checker::names::ThreadName;

use crate::report::Lane;

/// The threads of one execution, in the order of their columns.
#[derive(Clone, Debug)]
pub struct ThreadLabels {
    threads: Vec<ThreadName>,
    harness: Option<ThreadName>,
}

impl ThreadLabels {
    /// The labels of these threads; the main thread always has one, unless it is the harness, which has none.
    pub fn of(threads: impl IntoIterator<Item = ThreadName>, harness: Option<ThreadName>) -> Self {
        let mut sorted: BTreeSet<ThreadName> = threads.into_iter().collect();
        sorted.insert(ThreadName::MAIN);
        Self { threads: sorted.into_iter().filter(|&thread| Some(thread) != harness).collect(), harness }
    }

    /// `T1`, `T2` …, `timer 1`, `timer 2` …; the creation path for one that is not among them.
    #[must_use]
    pub fn label(&self, thread: ThreadName) -> String {
        if self.harness == Some(thread) {
            return "the harness".to_owned();
        }
        match self.threads.binary_search(&thread) {
            Ok(position) => {
                if thread.is_client() {
                    return "the client".to_owned();
                }
                let is_like =
                    |other: &&ThreadName| other.is_timer() == thread.is_timer() && !other.is_client();
                let number = self.threads[..position].iter().filter(is_like).count() + 1;
                if thread.is_timer() { format!("timer {number}") } else { format!("T{number}") }
            }
            Err(_) => thread.to_string(),
        }
    }

    /// The columns of a report.
    #[must_use]
    pub fn columns(&self) -> Vec<Lane> {
        self.threads.iter().map(|&path| Lane { thread: self.label(path), path }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_follow_the_creation_path_and_not_the_order_of_appearance() {
        let first = ThreadName::MAIN.child(1).unwrap();
        let second = ThreadName::MAIN.child(2).unwrap();
        let nested = first.child(1).unwrap();
        let labels = ThreadLabels::of([second, nested, first], None);
        let told = [ThreadName::MAIN, first, nested, second].map(|thread| labels.label(thread));
        assert_eq!(told, ["T1", "T2", "T3", "T4"]);
        assert_eq!(labels.columns()[2], Lane { thread: "T3".into(), path: nested });
    }

    #[test]
    fn timers_have_numbers_of_their_own() {
        let [thread, timer] = [ThreadName::MAIN.child(1).unwrap(), ThreadName::MAIN.timer(0).unwrap()];
        let later = thread.child(1).unwrap();
        let labels = ThreadLabels::of([later, timer, thread, thread.timer(0).unwrap()], None);
        let told =
            [ThreadName::MAIN, thread, later, thread.timer(0).unwrap(), timer].map(|t| labels.label(t));
        assert_eq!(told, ["T1", "T2", "T3", "timer 1", "timer 2"]);
    }

    #[test]
    fn a_harness_has_no_column() {
        let test = ThreadName::MAIN.child(1).unwrap();
        let labels = ThreadLabels::of([test], Some(ThreadName::MAIN));
        assert_eq!([test, ThreadName::MAIN].map(|thread| labels.label(thread)), ["T1", "the harness"]);
        assert_eq!(labels.columns(), [Lane { thread: "T1".into(), path: test }]);
    }
}
