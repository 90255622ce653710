//! Is a source still the text that was explored, and where are its lines if not?

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::SystemTime;

use explorer::kept::{KeptSource, content_hash};

use super::line_map::LineMap;
use super::{Finding, Spot};
use crate::documents::Documents;

/// The digits that stand for a text.
type Hash = Rc<str>;

/// A file as it was when its text was looked at: when it had been changed, and how long it was.
type Version = (SystemTime, u64);

/// What was found out about texts so far. Nothing here is needed to know it again.
#[derive(Default)]
pub(crate) struct Texts {
    /// Of files that are not open: their hash, as long as they are not changed.
    on_disk: RefCell<HashMap<PathBuf, (Version, Hash)>>,
    /// Of open documents: the hash of a version.
    open: RefCell<HashMap<PathBuf, (i32, Hash)>>,
    /// From one text to another, by their hashes.
    maps: RefCell<Maps>,
}

type Maps = HashMap<(String, Hash), Rc<LineMap>>;

/// More than anybody has open: they are forgotten all at once.
const MOST_MAPS: usize = 256;

impl Texts {
    /// Whether a source that a finding names is another text than the one that was explored.
    pub(crate) fn is_stale(&self, finding: &Finding, documents: &Documents) -> bool {
        finding.kept.sources.iter().any(|source| {
            source.newer || self.hash(&source.path(&finding.root), documents).as_deref() != Some(&source.hash)
        })
    }

    /// Where a line of a finding is now.
    pub(crate) fn now(&self, finding: &Finding, spot: &Spot, documents: &Documents) -> u32 {
        let Some(source) = source(finding, spot) else { return spot.line };
        match self.hash(&spot.file, documents) {
            Some(hash) if *hash != *source.hash => self.map(finding, source, hash, documents).of(spot.line),
            _ => spot.line,
        }
    }

    fn map(&self, finding: &Finding, source: &KeptSource, hash: Hash, documents: &Documents) -> Rc<LineMap> {
        let key = (source.hash.clone(), hash);
        if let Some(map) = self.maps.borrow().get(&key) {
            return Rc::clone(map);
        }
        let old = std::fs::read(finding.folder.path().join(&source.copy)).unwrap_or_default();
        let new = documents.text(&source.path(&finding.root)).unwrap_or_default();
        let map = Rc::new(LineMap::new(&String::from_utf8_lossy(&old), &new));
        let mut maps = self.maps.borrow_mut();
        if maps.len() >= MOST_MAPS {
            maps.clear();
        }
        maps.insert(key, Rc::clone(&map));
        map
    }

    /// The digits of a file's text as its user sees it; `None` where it is gone.
    fn hash(&self, file: &Path, documents: &Documents) -> Option<Hash> {
        match documents.get(file) {
            Some(document) => {
                let mut open = self.open.borrow_mut();
                match open.get(file) {
                    Some((version, hash)) if *version == document.version => Some(Rc::clone(hash)),
                    _ => {
                        let hash: Hash = content_hash(document.text.as_bytes()).into();
                        open.insert(file.to_owned(), (document.version, Rc::clone(&hash)));
                        Some(hash)
                    }
                }
            }
            None => self.hash_on_disk(file),
        }
    }

    fn hash_on_disk(&self, file: &Path) -> Option<Hash> {
        let about = file.metadata().ok()?;
        let modified = about.modified().ok()?;
        let mut known = self.on_disk.borrow_mut();
        if let Some((version, hash)) = known.get(file)
            && *version == (modified, about.len())
        {
            return Some(Rc::clone(hash));
        }
        let hash: Hash = content_hash(&std::fs::read(file).ok()?).into();
        known.insert(file.to_owned(), ((modified, about.len()), Rc::clone(&hash)));
        Some(hash)
    }

    /// A document was opened or closed: what is known of its versions is of another conversation.
    pub(crate) fn forget(&self, file: &Path) {
        self.open.borrow_mut().remove(file);
    }
}

fn source<'a>(finding: &'a Finding, spot: &Spot) -> Option<&'a KeptSource> {
    finding.kept.sources.iter().find(|source| source.path(&finding.root) == spot.file)
}
