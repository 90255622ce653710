//! Short names for the threads of one execution: T1 is the main thread, or the test's own one where a harness runs a test;
//! the others follow by creation path.

use std::collections::BTreeSet;

use checker::names::ThreadName;

use crate::report::Lane;

/// The threads of one execution, in the order of their columns.
#[derive(Clone, Debug)]
pub struct Lanes {
    threads: Vec<ThreadName>,
    harness: Option<ThreadName>,
}

impl Lanes {
    /// The lanes of these threads; the main thread is always one of them, unless it is the harness, which has none.
    pub fn of(threads: impl IntoIterator<Item = ThreadName>, harness: Option<ThreadName>) -> Self {
        let mut sorted: BTreeSet<ThreadName> = threads.into_iter().collect();
        sorted.insert(ThreadName::MAIN);
        Self { threads: sorted.into_iter().filter(|&thread| Some(thread) != harness).collect(), harness }
    }

    /// `T1`, `T2` …; the creation path for a thread that is not one of them.
    #[must_use]
    pub fn label(&self, thread: ThreadName) -> String {
        if self.harness == Some(thread) {
            return "the harness".to_owned();
        }
        match self.threads.binary_search(&thread) {
            Ok(position) => format!("T{}", position + 1),
            Err(_) => thread.to_string(),
        }
    }

    /// A sentence of the checker, which knows threads by creation path only, with the short names instead. What stands in
    /// backquotes is the program's.
    #[must_use]
    pub fn relabel(&self, sentence: &str) -> String {
        const QUOTE: char = '`';
        let parts = sentence.split(QUOTE).enumerate();
        let parts =
            parts.map(|(nth, part)| if nth % 2 == 0 { self.relabel_part(part) } else { part.to_owned() });
        parts.collect::<Vec<_>>().join("`")
    }

    fn relabel_part(&self, sentence: &str) -> String {
        let is_part = |c: char| c.is_alphanumeric() || "_/'.".contains(c);
        let mut text = String::new();
        for word in sentence.split_inclusive(|c: char| !is_part(c)) {
            let name = word.trim_end_matches(|c: char| !is_part(c)).trim_end_matches('.');
            match name.parse() {
                Ok(thread) => {
                    text.push_str(&self.label(thread));
                    text.push_str(&word[name.len()..]);
                }
                Err(_) => text.push_str(word),
            }
        }
        text
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
        let lanes = Lanes::of([second, nested, first], None);
        let labels = [ThreadName::MAIN, first, nested, second].map(|thread| lanes.label(thread));
        assert_eq!(labels, ["T1", "T2", "T3", "T4"]);
        assert_eq!(lanes.columns()[2], Lane { thread: "T3".into(), path: nested });
    }

    #[test]
    fn a_harness_has_no_lane() {
        let test = ThreadName::MAIN.child(1).unwrap();
        let lanes = Lanes::of([test], Some(ThreadName::MAIN));
        assert_eq!([test, ThreadName::MAIN].map(|thread| lanes.label(thread)), ["T1", "the harness"]);
        assert_eq!(lanes.columns(), [Lane { thread: "T1".into(), path: test }]);
    }

    #[test]
    fn sentences_get_the_labels_and_keep_the_rest() {
        let lanes = Lanes::of([ThreadName::MAIN.child(1).unwrap()], None);
        for (path, label) in [
            ("main and main/1 wait for each other; main/1 waits", "T1 and T2 wait for each other; T2 waits"),
            ("held by main/1, `main`, main.c, /main, domain.", "held by T2, `main`, main.c, /main, domain."),
            ("waits for main.", "waits for T1."),
            ("", ""),
        ] {
            assert_eq!(lanes.relabel(path), label);
        }
    }
}
