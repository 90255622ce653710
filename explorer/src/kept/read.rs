//! Reads what is kept, whoever wrote it: what is no file of ours, or newer than this tool, is passed over.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::BufReader;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

use super::{FINDING, KeptFinding, KeptHead, KeptTarget, TARGET, VERSION, copies};
use crate::root::STORE;
use crate::saving;
use crate::store::{Store, StoreError};

/// The folder of one target in a store.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct KeptFolder(PathBuf);

/// The folders of all targets in the store of the checkout at `root`; none where there is no store.
#[must_use]
pub fn folders(root: &Path) -> Vec<KeptFolder> {
    let entries = fs::read_dir(root.join(STORE)).into_iter().flatten().flatten();
    let folders: BTreeSet<KeptFolder> =
        entries.map(|entry| entry.path()).filter(|path| path.is_dir()).map(KeptFolder).collect();
    folders.into_iter().collect()
}

/// The store that a file lies in, if it lies in one: the root of the checkout, and the target's folder.
#[must_use]
pub fn stores_of(file: &Path) -> Option<(PathBuf, KeptFolder)> {
    let store = file.ancestors().find(|folder| folder.file_name().is_some_and(|name| name == STORE))?;
    let target = file.strip_prefix(store).ok()?.components().next()?;
    Some((store.parent()?.to_owned(), KeptFolder(store.join(target))))
}

impl KeptFolder {
    /// The folder at a path.
    #[must_use]
    pub fn at(path: &Path) -> Self {
        Self(path.to_owned())
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// A number that is another one when anything that is kept of target or findings is.
    #[must_use]
    pub fn stamp(&self) -> u64 {
        let mut files = self.files();
        files.push(self.0.join("target.json"));
        files.sort();
        let mut digits = DefaultHasher::new();
        for path in files {
            // Every write makes a new file, with a number of its own.
            let about = fs::metadata(&path).ok();
            let about = about.map(|about| (about.ino(), about.len(), about.mtime(), about.mtime_nsec()));
            (path, about).hash(&mut digits);
        }
        digits.finish()
    }

    /// The target, if it was explored to an end.
    #[must_use]
    pub fn target(&self) -> Option<KeptTarget> {
        let target: KeptTarget = read(&self.0.join("target.json"))?;
        (target.format == TARGET && target.version <= VERSION).then_some(target)
    }

    /// Its findings, the oldest first.
    #[must_use]
    pub fn findings(&self) -> Vec<KeptFinding> {
        let mut findings: Vec<KeptFinding> = self.files().iter().filter_map(|path| finding(path)).collect();
        findings.sort_by(|one, other| (one.found, &one.id).cmp(&(other.found, &other.id)));
        findings
    }

    /// One of them.
    #[must_use]
    pub fn finding(&self, id: &str) -> Option<KeptFinding> {
        finding(&self.file(id)?)
    }

    /// All of its findings without what they tell.
    pub(super) fn heads(&self) -> Vec<KeptHead> {
        self.files().iter().filter_map(|path| head(path)).collect()
    }

    /// The same of one of them.
    pub(super) fn head(&self, id: &str) -> Option<KeptHead> {
        head(&self.file(id)?)
    }

    fn files(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.0.join("findings")).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).collect()
    }

    fn file(&self, id: &str) -> Option<PathBuf> {
        // A name with a separator would be another folder.
        (!id.contains('/')).then(|| self.0.join(format!("findings/{id}.json")))
    }

    /// The finding whose schedule a file is: the one that fails, the one in which it was found, or the one that passes.
    #[must_use]
    pub fn finding_of_schedule(&self, schedule: &Path) -> Option<KeptFinding> {
        let is_of = |finding: &KeptFinding| {
            let id = &finding.id;
            [finding.schedule.clone(), saving::original_name(id), saving::passing_name(id)]
                .iter()
                .any(|name| self.0.join(name) == schedule)
        };
        self.findings().into_iter().find(is_of)
    }

    /// Forgets a finding, and what was kept for it alone.
    ///
    /// # Errors
    /// When nothing can be written there.
    pub fn dismiss(&self, id: &str) -> Result<(), StoreError> {
        let store = Store::at(&self.0)?;
        let _alone = store.lock()?;
        let Some(finding) = self.finding(id) else { return Ok(()) };
        store.remove(&format!("findings/{id}.json"))?;
        let others = self.heads();
        if others.iter().all(|other| other.schedule != finding.schedule) {
            store.remove(&finding.schedule)?;
            store.remove(&saving::original_name(id))?;
            store.remove(&saving::passing_name(id))?;
        }
        copies::forget_unused(&store, &others);
        Ok(())
    }
}

fn finding(path: &Path) -> Option<KeptFinding> {
    let finding: KeptFinding = read(path)?;
    is_ours(path, (&finding.format, finding.version, &finding.id)).then_some(finding)
}

/// The rest of the file is passed over as it is read.
fn head(path: &Path) -> Option<KeptHead> {
    let file = BufReader::new(File::open(path).ok()?);
    let head: KeptHead = serde_json::from_reader(file).ok()?;
    is_ours(path, (&head.format, head.version, &head.id)).then_some(head)
}

fn is_ours(path: &Path, (format, version, id): (&str, u32, &str)) -> bool {
    let is_named = path.file_stem().is_some_and(|stem| stem == id);
    format == FINDING && version <= VERSION && is_named
}

fn read<T: DeserializeOwned>(path: &Path) -> Option<T> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}
