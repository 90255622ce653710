//! Copies of sources and programs, in the target's folder, for as long as a finding needs them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::Path;
use std::time::SystemTime;

use super::{KeptFinding, KeptSource, content_hash};
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
    let events = finding.events.iter().map(|event| &event.place);
    std::iter::once(&finding.place).chain(stacks).chain(events).filter_map(file).collect()
}

/// Keeps the program: by a link if that is possible, else by a copy if it is not too large.
pub(super) fn keep_program(store: &Store, program: &Path, build_id: &str) -> Option<String> {
    let name = program.file_name()?.to_string_lossy();
    // Replays show the name to whoever looks at processes.
    let copy = format!("{PROGRAMS}/{}/{name}", short_hash(build_id.as_bytes()));
    let place = store.folder().join(&copy);
    if place.exists() {
        return Some(copy);
    }
    fs::create_dir_all(place.parent()?).ok()?;
    let is_small = || fs::metadata(program).is_ok_and(|about| about.len() <= LARGEST_COPY);
    let linked = fs::hard_link(program, &place);
    let kept = linked.is_ok() || (is_small() && copied(program, &place).is_ok());
    kept.then_some(copy)
}

fn copied(program: &Path, place: &Path) -> io::Result<()> {
    let unfinished = place.with_extension("new");
    fs::copy(program, &unfinished)?;
    fs::rename(&unfinished, place)
}

/// Removes the copies that none of these findings needs.
pub(super) fn forget_unused(store: &Store, findings: &[KeptFinding]) {
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
