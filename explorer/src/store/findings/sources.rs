//! Copies of sources and programs, in the target's folder, for as long as a finding needs them.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use files::{Folder, Kind, State};
use ptrace_backend::preflight;

use super::{KeptHead, KeptPotentialDeadlock, KeptSource, content_hash};
use crate::report::{Finding, Location, LockOrder, PotentialDeadlock};
use crate::store::{Store, StoreError, short_hash};
use crate::trust;

/// A program that is larger is not kept: it would be read and sealed as a whole, between two executions of a search.
const LARGEST_COPY: u64 = 200 << 20;

const SOURCES: &str = "sources";
const PROGRAMS: &str = "programs";

/// Keeps the sources that a finding names. Those that cannot be read are left out.
pub(super) fn keep_sources(
    store: &Store,
    root: &Path,
    finding: &Finding,
    built: Option<SystemTime>,
) -> Result<Vec<KeptSource>, StoreError> {
    let mut kept = BTreeMap::new();
    for file in files(finding) {
        let Ok(mut source) = files::open(&root.join(file), Kind::Text) else { continue };
        let modified = source.metadata().and_then(|about| about.modified());
        let mut text = Vec::new();
        if source.by_ref().take(Kind::Text.largest()).read_to_end(&mut text).is_err() {
            continue;
        }
        let hash = content_hash(&text);
        let copy = format!("{SOURCES}/{hash}");
        // The file of that name may have come with the workspace.
        if store.open().and_then(|folder| folder.read(&copy, Kind::Text)).ok().as_ref() != Some(&text) {
            store.write(&copy, &text)?;
        }
        let newer = matches!((modified, built), (Ok(changed), Some(built)) if changed > built);
        kept.insert(file, KeptSource { file: file.to_owned(), hash, copy, newer });
    }
    Ok(kept.into_values().collect())
}

/// A potential deadlock with the hashes of the sources that it names. One that was changed after the program was built has none
/// that any text has.
pub(super) fn with_hashes(
    root: &Path,
    told: &PotentialDeadlock,
    built: Option<SystemTime>,
) -> KeptPotentialDeadlock {
    let uses = told.threads.iter().flat_map(LockOrder::uses);
    let files: BTreeSet<&str> = uses.filter_map(|taken| taken.place.file.as_deref()).collect();
    let hash = |file: &str| {
        let path = root.join(file);
        let changed = path.metadata().and_then(|about| about.modified());
        let is_newer = matches!((changed, built), (Ok(changed), Some(built)) if changed > built);
        let text = files::read(&path, Kind::Text).ok().filter(|_| !is_newer);
        (file.to_owned(), text.map(|text| content_hash(&text)).unwrap_or_default())
    };
    KeptPotentialDeadlock { told: told.clone(), sources: files.into_iter().map(hash).collect() }
}

fn files(finding: &Finding) -> BTreeSet<&str> {
    fn file(place: &Location) -> Option<&str> {
        place.file.as_deref()
    }
    let stacks = finding.parties.iter().flat_map(|party| &party.stack);
    let events = finding.events.iter().map(|event| &*event.place);
    std::iter::once(&finding.place).chain(stacks).chain(events).filter_map(file).collect()
}

/// The program that is explored, also once another one has been built in its place.
pub(super) struct Explored {
    path: PathBuf,
    build_id: String,
    /// None where it could not be opened.
    file: Option<File>,
    built: Option<SystemTime>,
    /// Its copy, once it has been kept.
    copy: OnceCell<Option<ProgramCopy>>,
}

/// A program's copy.
#[derive(Clone)]
pub(super) struct ProgramCopy {
    /// Relative to the target's folder.
    pub(super) name: String,
    /// None where there is no key.
    pub(super) seal: Option<String>,
}

impl Explored {
    /// The program that is at `path` now; it has been launched.
    pub(super) fn at(path: PathBuf, build_id: &str) -> Self {
        let file = files::open(&path, Kind::Program).ok();
        let built = file.as_ref().and_then(|file| file.metadata().ok()?.modified().ok());
        Self { path, build_id: build_id.to_owned(), file, built, copy: OnceCell::new() }
    }

    /// Time at which it was built.
    pub(super) fn built(&self) -> Option<SystemTime> {
        self.built
    }

    /// Keeps it: by a link if it still is where it was and that is possible, else by a copy; unless it is too large. A
    /// program that has taken its place is not kept for it.
    pub(super) fn keep(&self, store: &Store) -> Option<ProgramCopy> {
        let keep = || {
            let name = self.copied(store)?;
            let copy = store.open().ok()?.open_file(&name, Kind::Program).ok()?;
            Some(ProgramCopy { name, seal: trust::seal_of_program(&copy, &self.build_id) })
        };
        self.copy.get_or_init(keep).clone()
    }

    fn copied(&self, store: &Store) -> Option<String> {
        let name = self.path.file_name()?.to_string_lossy();
        // Replays show the name in lists of processes.
        let copy = format!("{PROGRAMS}/{}/{name}", short_hash(self.build_id.as_bytes()));
        let folder = store.open().ok()?;
        let file = self.file.as_ref()?;
        if file.metadata().ok()?.len() > LARGEST_COPY {
            return None;
        }
        let opened = State::of_file(file).ok()?;
        if folder.state(&copy).is_ok_and(|known| known.inode == opened.inode) {
            return Some(copy);
        }
        // The file of that name there may have come with the workspace, or be a copy that was cut short.
        folder.remove(&copy).ok()?;
        let linked = folder.link(&self.path, &copy).is_ok()
            && folder.state(&copy).is_ok_and(|linked| linked.inode == opened.inode);
        if !linked {
            copy_to(file, &folder, &copy).ok()?;
        }
        // It may have been written to, or replaced before it was opened.
        if preflight::inspect(&store.folder().join(&copy)).is_ok_and(|found| found.build_id != self.build_id)
        {
            folder.remove(&copy).ok()?;
            return None;
        }
        Some(copy)
    }
}

fn copy_to(mut file: &File, folder: &Folder, name: &str) -> io::Result<()> {
    let about = file.metadata()?;
    file.rewind()?;
    folder.write_with(name, about.permissions().mode() & 0o777, |to| {
        io::copy(&mut file.take(LARGEST_COPY), to).map(drop)
    })
}

/// Removes the copies that none of these findings needs.
pub(super) fn forget_unused(store: &Store, findings: &[KeptHead]) {
    let sources = findings.iter().flat_map(|finding| &finding.sources).map(|source| source.copy.as_str());
    let programs = findings.iter().filter_map(|finding| finding.program.as_deref());
    let needed: BTreeSet<&str> = sources.chain(programs).collect();
    let Ok(folder) = store.open() else { return };
    for entry in entries(&folder, SOURCES) {
        let copy = format!("{SOURCES}/{entry}");
        if !needed.contains(copy.as_str()) {
            // A copy that stays costs room, and nothing else.
            let _ = folder.remove(&copy);
        }
    }
    for entry in entries(&folder, PROGRAMS) {
        let copies = format!("{PROGRAMS}/{entry}");
        let inside = format!("{copies}/");
        if !needed.range(inside.as_str()..).next().is_some_and(|copy| copy.starts_with(&inside)) {
            // As above.
            let _ = folder.remove_folder(&copies);
        }
    }
}

fn entries(folder: &Folder, name: &str) -> Vec<String> {
    folder.inner(name).and_then(|inner| inner.names()).unwrap_or_default()
}
