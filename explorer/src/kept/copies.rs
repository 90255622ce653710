//! Copies of sources and programs, in the target's folder, for as long as a finding needs them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use ptrace_backend::preflight;

use super::{KeptHead, KeptSource, content_hash};
use crate::report::{Finding, Location};
use crate::store::{Store, StoreError, short_hash};

/// A program that is larger is not copied; a link costs nothing.
const LARGEST_COPY: u64 = 200 << 20;

/// A text that is larger was not written by a person.
const LARGEST_SOURCE: u64 = 16 << 20;

const SOURCES: &str = "sources";
const PROGRAMS: &str = "programs";

/// Keeps the sources that a finding names. What cannot be read is left out.
pub(super) fn keep_sources(
    store: &Store,
    root: &Path,
    finding: &Finding,
    built: Option<SystemTime>,
) -> Result<Vec<KeptSource>, StoreError> {
    let mut kept = BTreeMap::new();
    for file in files(finding) {
        let path = root.join(file);
        let Ok(about) = fs::metadata(&path) else { continue };
        if !about.is_file() || about.len() > LARGEST_SOURCE {
            continue;
        }
        let Ok(text) = fs::read(&path) else { continue };
        let hash = content_hash(&text);
        let copy = format!("{SOURCES}/{hash}");
        if !store.folder().join(&copy).exists() {
            store.write(&copy, &text)?;
        }
        let newer = matches!((about.modified(), built), (Ok(changed), Some(built)) if changed > built);
        kept.insert(file, KeptSource { file: file.to_owned(), hash, copy, newer });
    }
    Ok(kept.into_values().collect())
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
}

impl Explored {
    /// What is at `path` now; it has been launched.
    pub(super) fn at(path: PathBuf, build_id: &str) -> Self {
        let file = File::open(&path).ok();
        let built = file.as_ref().and_then(|file| file.metadata().ok()?.modified().ok());
        Self { path, build_id: build_id.to_owned(), file, built }
    }

    /// When it was built.
    pub(super) fn built(&self) -> Option<SystemTime> {
        self.built
    }

    /// Keeps it: by a link if it still is where it was and that is possible, else by a copy if it is not too large. What has
    /// taken its place is not kept for it.
    pub(super) fn keep(&self, store: &Store) -> Option<String> {
        let name = self.path.file_name()?.to_string_lossy();
        // Replays show the name to whoever looks at processes.
        let copy = format!("{PROGRAMS}/{}/{name}", short_hash(self.build_id.as_bytes()));
        let place = store.folder().join(&copy);
        if place.exists() {
            return Some(copy);
        }
        fs::create_dir_all(place.parent()?).ok()?;
        let linked = self.is_there() && fs::hard_link(&self.path, &place).is_ok();
        if !linked {
            self.copy_to(&place).ok()?;
        }
        // It may have been written to, or replaced before it was opened.
        if preflight::inspect(&place).is_ok_and(|found| found.build_id != self.build_id) {
            fs::remove_file(&place).ok()?;
            return None;
        }
        Some(copy)
    }

    fn is_there(&self) -> bool {
        let opened = self.file.as_ref().and_then(|file| file.metadata().ok());
        let same = |one: &Metadata, other: &Metadata| (one.dev(), one.ino()) == (other.dev(), other.ino());
        opened.is_some_and(|opened| fs::metadata(&self.path).is_ok_and(|now| same(&opened, &now)))
    }

    fn copy_to(&self, place: &Path) -> io::Result<()> {
        let file = self.file.as_ref().ok_or(io::ErrorKind::NotFound)?;
        let about = file.metadata()?;
        if about.len() > LARGEST_COPY {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let unfinished = place.with_extension("new");
        let mut text = vec![0; about.len() as usize];
        file.read_exact_at(&mut text, 0)?;
        fs::write(&unfinished, text)?;
        fs::set_permissions(&unfinished, about.permissions())?;
        fs::rename(&unfinished, place)
    }
}

/// Removes the copies that none of these findings needs.
pub(super) fn forget_unused(store: &Store, findings: &[KeptHead]) {
    let sources = findings.iter().flat_map(|finding| &finding.sources).map(|source| source.copy.as_str());
    let programs = findings.iter().filter_map(|finding| finding.program.as_deref());
    let needed: BTreeSet<&str> = sources.chain(programs).collect();
    for entry in entries(&store.folder().join(SOURCES)) {
        if !needed.contains(format!("{SOURCES}/{entry}").as_str()) {
            // What stays costs room, and nothing else.
            let _ = fs::remove_file(store.folder().join(SOURCES).join(entry));
        }
    }
    for entry in entries(&store.folder().join(PROGRAMS)) {
        if !needed.iter().any(|copy| copy.starts_with(&format!("{PROGRAMS}/{entry}/"))) {
            // As above.
            let _ = fs::remove_dir_all(store.folder().join(PROGRAMS).join(entry));
        }
    }
}

fn entries(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().into_string().ok()).collect()
}
