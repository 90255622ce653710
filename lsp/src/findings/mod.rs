//! The findings of the stores, as an editor shows them.

mod finding;
mod line_map;
mod related_lines;
mod schedule;
mod spot;
mod texts;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use explorer::store::findings::{self, KeptFolder, KeptPotentialDeadlock, KeptTarget};

pub(crate) use self::finding::Finding;
pub(crate) use self::related_lines::RelatedLine;
pub(crate) use self::schedule::{Preemption, Step, ThreadState};
pub(crate) use self::spot::Spot;
pub(crate) use self::texts::Texts;
use crate::explore::key::Key;

/// All findings, by target's folder, and what is kept of the targets.
#[derive(Default)]
pub(crate) struct Findings {
    folders: BTreeMap<KeptFolder, Kept>,
}

struct Kept {
    root: PathBuf,
    target: Option<KeptTarget>,
    findings: Vec<Finding>,
    stamp: u64,
}

impl Findings {
    /// Forgets what is kept in other checkouts than these, and says whether anything was.
    pub(crate) fn forget_others(&mut self, roots: &BTreeSet<PathBuf>) -> bool {
        let before = self.folders.len();
        self.folders.retain(|_, kept| roots.contains(&kept.root));
        before != self.folders.len()
    }

    /// Reads what has changed in the store of a checkout, and says whether anything has.
    pub(crate) fn look_at(&mut self, root: &Path) -> bool {
        let folders = findings::folders(root);
        let before = self.folders.len();
        self.folders.retain(|folder, kept| kept.root != root || folders.contains(folder));
        let mut changed = before != self.folders.len();
        for folder in folders {
            let stamp = folder.stamp();
            if self.folders.get(&folder).is_none_or(|kept| kept.stamp != stamp) {
                self.read(root, folder, stamp);
                changed = true;
            }
        }
        changed
    }

    fn read(&mut self, root: &Path, folder: KeptFolder, stamp: u64) {
        let findings = folder.findings().into_iter().map(|kept| Finding::of(root, &folder, kept)).collect();
        let kept = Kept { root: root.to_owned(), target: folder.target(), findings, stamp };
        self.folders.insert(folder, kept);
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &Finding> {
        self.folders.values().flat_map(|kept| &kept.findings)
    }

    pub(crate) fn open(&self) -> impl Iterator<Item = &Finding> {
        self.all().filter(|finding| finding.is_open())
    }

    pub(crate) fn of_target<'a>(&'a self, target: &'a Key) -> impl Iterator<Item = &'a Finding> {
        self.all().filter(move |finding| finding.kept.target == target.id && finding.root == target.root)
    }

    pub(crate) fn get(&self, id: &str) -> Option<&Finding> {
        self.all().find(|finding| finding.id == id)
    }

    pub(crate) fn targets(&self) -> impl Iterator<Item = Key> {
        let named = |kept: &Kept| Some(Key { root: kept.root.clone(), id: kept.target.as_ref()?.id.clone() });
        self.folders.values().filter_map(named)
    }

    /// The potential deadlocks that the last run of each target saw, with the root of its checkout.
    pub(crate) fn potential_deadlocks(&self) -> impl Iterator<Item = (&Path, &KeptPotentialDeadlock)> {
        self.folders.values().flat_map(|kept| {
            let all = kept.target.iter().flat_map(|target| &target.last.potential_deadlocks);
            all.map(|potential| (kept.root.as_path(), potential))
        })
    }

    pub(crate) fn target(&self, key: &Key) -> Option<&KeptTarget> {
        let there = self.folders.values().filter(|kept| kept.root == key.root);
        there.filter_map(|kept| kept.target.as_ref()).find(|target| target.id == key.id)
    }

    /// The folder that is kept of a target that was explored.
    pub(crate) fn folder(&self, key: &Key) -> Option<&KeptFolder> {
        let is_of = |kept: &Kept| {
            kept.root == key.root && kept.target.as_ref().is_some_and(|target| target.id == key.id)
        };
        self.folders.iter().find(|(_, kept)| is_of(kept)).map(|(folder, _)| folder)
    }

    /// The finding that hints belong to where none was chosen: the first of the target that was explored last.
    pub(crate) fn first(&self) -> Option<&Finding> {
        let latest = self.folders.values().filter(|kept| kept.findings.iter().any(Finding::is_open));
        let last_used = |kept: &&Kept| {
            let found = kept.findings.iter().map(|finding| finding.kept.found).max();
            found.max(kept.target.as_ref().map(|target| target.last.at))
        };
        let latest = latest.max_by_key(last_used)?;
        latest.findings.iter().find(|finding| finding.is_open())
    }
}
