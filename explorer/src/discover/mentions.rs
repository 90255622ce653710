//! Sources of a workspace that mention threads: a program that is not built yet may create them in any of its files.

use std::collections::HashMap;
use std::path::PathBuf;

use files::Kind;

use super::threads::text_creates_threads;
use super::walk::{ScanBudget, Stamp};

/// The sources that were read, each as it was then.
#[derive(Clone, Default, Debug)]
pub(super) struct Mentions {
    read: HashMap<PathBuf, (Stamp, bool)>,
    any: bool,
}

impl Mentions {
    /// Whether a source mentions threads; yes also where not all of them were read.
    pub(super) const fn any(&self) -> bool {
        self.any
    }

    /// Reads what is new or changed, up to the first source that mentions threads.
    pub(super) fn look(&mut self, sources: &[(PathBuf, Stamp)], budget: &ScanBudget) {
        let known = std::mem::take(&mut self.read);
        let mut unread = Vec::new();
        for (path, stamp) in sources {
            match known.get(path).filter(|(read, _)| read == stamp) {
                Some(seen) => drop(self.read.insert(path.clone(), *seen)),
                None => unread.push((path, *stamp)),
            }
        }
        self.any = self.read.values().any(|(_, mentions)| *mentions);
        for (path, stamp) in unread {
            if self.any {
                return;
            }
            // A source that is no text mentions nothing that a compiler would read.
            let is_mention =
                || files::read_text(path, Kind::Text).is_ok_and(|text| text_creates_threads(&text));
            let Some(mentions) = budget.within(is_mention) else {
                self.any = true;
                return;
            };
            self.read.insert(path.clone(), (stamp, mentions));
            self.any = mentions;
        }
    }
}
