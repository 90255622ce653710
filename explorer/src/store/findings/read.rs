//! Reads what is kept, whatever its origin: a file that is none of ours, or newer than this tool, is passed over.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use files::{Folder, Kind, State, is_inside};
use serde::de::DeserializeOwned;

use super::{FINDING, KeptFinding, KeptHead, KeptSource, KeptTarget, TARGET, VERSION, sources};
use crate::input::project_root::STORE;
use crate::schedule_file::names;
use crate::store::{Store, StoreError};
use crate::trust;

/// The names of the findings that were dismissed, in a target's folder.
const DISMISSED: &str = "dismissed.json";

/// So many findings of one target are looked at, which is more than a program has. A store that came with a clone may hold any
/// number.
const MOST: usize = 1000;

/// And so many bytes of them, but for the newest one: each takes several times its size in memory.
const MOST_BYTES: u64 = 512 << 20;

/// The folder of one target in a store.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct KeptFolder(PathBuf);

/// The folders of all targets in the store of the checkout at `root`; none where there is no store.
#[must_use]
pub fn folders(root: &Path) -> Vec<KeptFolder> {
    let store = Store::existing(&root.join(STORE));
    let Ok(folder) = store.open() else { return Vec::new() };
    let names = folder.names().unwrap_or_default().into_iter();
    names
        .filter(|name| folder.inner(name).is_ok())
        .map(|name| KeptFolder(store.folder().join(name)))
        .collect()
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

    /// Its path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// A number that is another one when anything that is kept of target or findings is.
    #[must_use]
    pub fn stamp(&self) -> u64 {
        let folder = self.open();
        let mut digits = DefaultHasher::new();
        for name in self.files().iter().map(String::as_str).chain(["target.json"]) {
            // Every write makes a new file, with a number of its own.
            let state = folder.as_ref().ok().and_then(|folder| folder.state(name).ok());
            (name, state).hash(&mut digits);
        }
        digits.finish()
    }

    /// The target, if it was explored to an end.
    #[must_use]
    pub fn target(&self) -> Option<KeptTarget> {
        let target: KeptTarget = self.parsed("target.json", Kind::Settings)?;
        (target.format == TARGET && target.version <= VERSION).then_some(target)
    }

    /// Its findings, the oldest first; where there are more than any program has, the newest of them.
    #[must_use]
    pub fn findings(&self) -> Vec<KeptFinding> {
        let mut findings: Vec<KeptFinding> =
            self.files().iter().filter_map(|name| self.finding_in(name)).collect();
        findings.sort_by(|one, other| (one.found, &one.id).cmp(&(other.found, &other.id)));
        findings
    }

    /// One of them.
    #[must_use]
    pub fn finding(&self, id: &str) -> Option<KeptFinding> {
        self.finding_in(&file(id)?)
    }

    /// The same without what they tell.
    pub(super) fn heads(&self) -> Vec<KeptHead> {
        self.files().iter().filter_map(|name| self.head_in(name)).collect()
    }

    /// Whether there are more than are looked at: then it is not known which copies no finding needs.
    pub(super) fn is_overfull(&self) -> bool {
        self.files().len() < self.names().len()
    }

    /// The same of one of them.
    pub(super) fn head(&self, id: &str) -> Option<KeptHead> {
        self.head_in(&file(id)?)
    }

    /// The text of a source as it was.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn text(&self, source: &KeptSource) -> io::Result<Vec<u8>> {
        self.open()?.read(&source.copy, Kind::Text)
    }

    /// The path of something that is kept, if it is there as a regular file.
    #[must_use]
    pub fn path_of(&self, name: &str) -> Option<PathBuf> {
        self.open().ok()?.state(name).ok()?;
        Some(self.0.join(name))
    }

    /// The copy of a program.
    pub(super) fn opened(&self, name: &str) -> io::Result<File> {
        self.open()?.open_file(name, Kind::Program)
    }

    fn open(&self) -> io::Result<Folder> {
        Store::existing(&self.0).open()
    }

    /// Those that are looked at: where there are too many, or too large ones, the newest.
    fn files(&self) -> Vec<String> {
        let inner = self.open().and_then(|folder| folder.inner("findings"));
        let state = |name: &String| inner.as_ref().ok()?.state(name).ok();
        let mut all: Vec<(Option<State>, String)> =
            self.names().into_iter().map(|name| (state(&name), name)).collect();
        all.sort_by_key(|(state, _)| Reverse(state.map(|state| state.modified)));
        let mut bytes = 0;
        let is_read = |(state, _): &&(Option<State>, String)| {
            bytes += state.map_or(0, |state| state.size);
            bytes <= MOST_BYTES
        };
        let read = all.iter().take(MOST).take_while(is_read).count();
        all.truncate(read.max(1));
        let mut names: Vec<String> = all.into_iter().map(|(_, name)| format!("findings/{name}")).collect();
        names.sort();
        names
    }

    fn names(&self) -> Vec<String> {
        self.open().and_then(|folder| folder.inner("findings")?.names()).unwrap_or_default()
    }

    fn finding_in(&self, name: &str) -> Option<KeptFinding> {
        let finding: KeptFinding = self.parsed(name, Kind::Record)?;
        let sources = (&finding.program, &finding.sources);
        is_ours(name, (&finding.format, finding.version, &finding.id), (&finding.schedule, sources))
            .then_some(finding)
    }

    /// The rest of the file is passed over as it is read.
    fn head_in(&self, name: &str) -> Option<KeptHead> {
        let file = BufReader::new(self.open().ok()?.open_file(name, Kind::Record).ok()?);
        let head: KeptHead = serde_json::from_reader(file).ok()?;
        let sources = (&head.program, &head.sources);
        is_ours(name, (&head.format, head.version, &head.id), (&head.schedule, sources)).then_some(head)
    }

    fn parsed<T: DeserializeOwned>(&self, name: &str, kind: Kind) -> Option<T> {
        serde_json::from_slice(&self.open().ok()?.read(name, kind).ok()?).ok()
    }

    /// The finding whose schedule a file is: the one that fails, the one in which it was found, or the one that passes.
    #[must_use]
    pub fn finding_of_schedule(&self, schedule: &Path) -> Option<KeptFinding> {
        let is_of = |finding: &KeptFinding| {
            let id = &finding.id;
            [
                finding.schedule.clone(),
                names::original_name(id),
                names::passing_name(id),
                names::again_name(id),
            ]
            .iter()
            .any(|name| self.0.join(name) == schedule)
        };
        self.findings().into_iter().find(is_of)
    }

    /// The names of the findings that were dismissed.
    pub(super) fn dismissed(&self) -> BTreeSet<String> {
        self.parsed(DISMISSED, Kind::Settings).unwrap_or_default()
    }

    /// Has findings that were dismissed be kept again when they are found.
    ///
    /// # Errors
    /// When nothing can be written there.
    pub fn restore(&self) -> Result<(), StoreError> {
        let store = Store::at(&self.0)?;
        let _alone = store.lock()?;
        store.remove(DISMISSED)
    }

    /// Forgets a finding, and what was kept for it alone; it is not kept again when it is found again.
    ///
    /// # Errors
    /// When nothing can be written there.
    pub fn dismiss(&self, id: &str) -> Result<(), StoreError> {
        let store = Store::at(&self.0)?;
        let _alone = store.lock()?;
        let Some(finding) = self.finding(id) else { return Ok(()) };
        let mut dismissed = self.dismissed();
        dismissed.insert(id.to_owned());
        store.write_with(DISMISSED, |to| serde_json::to_writer(to, &dismissed).map_err(io::Error::from))?;
        store.remove(&format!("findings/{id}.json"))?;
        let others = self.heads();
        if self.is_overfull() {
            return Ok(());
        }
        if others.iter().all(|other| other.schedule != finding.schedule) {
            store.remove(&finding.schedule)?;
            for name in [names::original_name(id), names::passing_name(id), names::again_name(id)] {
                store.remove(&name)?;
            }
        }
        sources::forget_unused(&store, &others);
        Ok(())
    }
}

impl KeptFolder {
    /// The program as a finding was found in it, if this user's tool has kept it here and it is still what it was.
    #[must_use]
    pub fn program(&self, finding: &KeptFinding) -> Option<PathBuf> {
        let (name, seal) = (finding.program.as_ref()?, finding.program_seal.as_ref()?);
        let copy = self.opened(name).ok()?;
        trust::is_own_program(&copy, &finding.run.build_id, seal).then(|| self.path().join(name))
    }
}

/// The file of the finding of this name.
fn file(id: &str) -> Option<String> {
    // A name with a separator would be another folder.
    (!id.contains('/')).then(|| format!("findings/{id}.json"))
}

/// Whether what a file holds is a finding: it has the name of the file, and what it names is in the target's folder.
fn is_ours(
    name: &str,
    (format, version, id): (&str, u32, &str),
    (schedule, (program, sources)): (&str, (&Option<String>, &Vec<KeptSource>)),
) -> bool {
    let sources = program.iter().chain(sources.iter().map(|source| &source.copy)).map(String::as_str);
    format == FINDING
        && version <= VERSION
        && file(id).is_some_and(|file| file == name)
        && sources.chain([schedule]).all(|name| is_inside(Path::new(name)))
}
