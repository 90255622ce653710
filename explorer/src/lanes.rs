//! Short names for the threads of one execution: T1 is the main thread, the others follow by creation path.

use std::collections::BTreeSet;

use checker::names::ThreadName;

use crate::report::Lane;

/// The threads of one execution, in the order of their columns.
#[derive(Clone, Debug)]
pub struct Lanes {
    threads: Vec<ThreadName>,
}

impl Lanes {
    /// The lanes of these threads; the main thread is always one of them.
    pub fn of(threads: impl IntoIterator<Item = ThreadName>) -> Self {
        let mut sorted: BTreeSet<ThreadName> = threads.into_iter().collect();
        sorted.insert(ThreadName::MAIN);
        Self { threads: sorted.into_iter().collect() }
    }

    /// `T1`, `T2` …; the creation path for a thread that is not one of them.
    #[must_use]
    pub fn label(&self, thread: ThreadName) -> String {
        match self.threads.binary_search(&thread) {
            Ok(position) => format!("T{}", position + 1),
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
        let lanes = Lanes::of([second, nested, first]);
        let labels = [ThreadName::MAIN, first, nested, second].map(|thread| lanes.label(thread));
        assert_eq!(labels, ["T1", "T2", "T3", "T4"]);
        assert_eq!(lanes.columns()[2], Lane { thread: "T3".into(), path: nested });
    }
}
