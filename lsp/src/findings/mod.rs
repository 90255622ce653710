//! The findings of the stores, as an editor shows them.

mod clues;
mod line_map;
mod schedule;
mod texts;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use explorer::report::interned::Shared;
use explorer::report::{FailureKind, Location};
use explorer::store::findings::{self, KeptFinding, KeptFolder, KeptTarget};

pub(crate) use self::clues::Clue;
pub(crate) use self::schedule::{Preemption, State, Step};
pub(crate) use self::texts::Texts;
use crate::key::Key;

/// A place that exists: a line in a text as it was explored.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Spot {
    pub(crate) file: PathBuf,
    /// From 0.
    pub(crate) line: u32,
}

impl Spot {
    /// `None` for a place that no editor can open.
    pub(crate) fn of(place: &Location, root: &Path) -> Option<Self> {
        let file = root.join(place.file.as_ref()?);
        let line = place.line?.checked_sub(1)?;
        file.is_file().then_some(Self { file, line })
    }
}

/// A finding.
#[derive(Clone, Debug)]
pub(crate) struct Finding {
    /// Its name among all findings.
    pub(crate) id: String,
    /// Where names of its files start.
    pub(crate) root: PathBuf,
    pub(crate) folder: KeptFolder,
    /// Without its events.
    pub(crate) kept: KeptFinding,
    pub(crate) at: Option<Spot>,
    /// Every change of thread, in order.
    pub(crate) switches: Vec<Step>,
    /// Those of them that are preemptions.
    pub(crate) preemptions: Vec<Preemption>,
    /// The threads at the end.
    pub(crate) end: Vec<State>,
    /// The order that decides.
    pub(crate) critical_pair: Vec<Clue>,
    /// The accesses to blame.
    pub(crate) pattern: Vec<Clue>,
}

impl Finding {
    fn of(root: &Path, folder: &KeptFolder, mut kept: KeptFinding) -> Self {
        let told = &kept.finding;
        let own = told.parties.iter().filter(|party| Some(&party.thread) == told.thread.as_ref());
        let others = told.parties.iter().filter(|party| Some(&party.thread) != told.thread.as_ref());
        let stacks = own.chain(others).flat_map(|party| &party.stack);
        let at = std::iter::once(&told.place).chain(stacks).find_map(|place| Spot::of(place, root));
        let told = schedule::Told::of(&kept.finding, root);
        let (switches, preemptions, end) = (told.switches(), told.preemptions(), told.end());
        let why = kept.finding.explanation.as_ref();
        let critical_pair = why.map(|why| clues::critical_pair(why, root)).unwrap_or_default();
        let pattern = why.map(|why| clues::pattern(why, root)).unwrap_or_default();
        // Long executions would fill the memory of the server.
        kept.finding.events = Shared::default();
        if let Some(pair) = kept.finding.explanation.as_mut().and_then(|why| why.pair.as_mut()) {
            pair.passing = Shared::default();
        }
        Self {
            id: folder.path().join(&kept.id).to_string_lossy().into_owned(),
            root: root.to_owned(),
            folder: folder.clone(),
            at,
            switches,
            preemptions,
            end,
            critical_pair,
            pattern,
            kept,
        }
    }

    /// The target that it was found in.
    pub(crate) fn target(&self) -> Key {
        Key { root: self.root.clone(), id: self.kept.target.clone() }
    }

    /// Whether it is to be shown as a problem.
    pub(crate) fn is_open(&self) -> bool {
        self.kept.fixed.is_none()
    }

    /// Whether it is a bug of the threads' order; a program that always fails is none.
    pub(crate) fn is_concurrency_bug(&self) -> bool {
        self.kept.finding.kind != FailureKind::AlwaysFails
    }

    /// Whether a simpler schedule may be found by taking longer. What fails always has none, and each experiment with what
    /// goes round in a loop for ever would last as long as a thread may run.
    pub(crate) fn can_be_minimised(&self) -> bool {
        let told = &self.kept.finding;
        let is_minimised = told.explanation.as_ref().is_some_and(|why| why.minimised);
        let goes_round = told.kind == FailureKind::Livelock && told.thread.is_some();
        !is_minimised && !goes_round && told.kind != FailureKind::AlwaysFails
    }

    /// The kind as it is written in reports.
    pub(crate) fn kind(&self) -> String {
        let kind = serde_json::to_value(self.kept.finding.kind).ok();
        kind.as_ref().and_then(serde_json::Value::as_str).unwrap_or_default().to_owned()
    }

    /// Its schedule file.
    pub(crate) fn schedule(&self) -> PathBuf {
        self.folder.path().join(&self.kept.schedule)
    }

    /// The schedule file that passes, if there is one.
    pub(crate) fn passing(&self) -> Option<PathBuf> {
        self.kept.passing().and_then(|name| self.folder.path_of(&name))
    }

    /// The program that it was found in: where it was, if it is still there, else the copy.
    pub(crate) fn program(&self) -> PathBuf {
        let place = self.kept.run.program.in_checkout(&self.root);
        let copy = self.kept.program.as_ref().map(|copy| self.folder.path().join(copy));
        match copy {
            Some(copy) if !is_same_file(&place, &copy) => copy,
            _ => place,
        }
    }
}

/// Whether two files hold the same program, as far as that can be told without reading them.
fn is_same_file(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let (Ok(one), Ok(other)) = (one.metadata(), other.metadata()) else { return false };
    let is_link = (one.dev(), one.ino()) == (other.dev(), other.ino());
    is_link || (one.len() == other.len() && one.modified().ok() <= other.modified().ok())
}

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

    pub(crate) fn target(&self, key: &Key) -> Option<&KeptTarget> {
        let there = self.folders.values().filter(|kept| kept.root == key.root);
        there.filter_map(|kept| kept.target.as_ref()).find(|target| target.id == key.id)
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
