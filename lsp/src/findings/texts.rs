//! Is a source still the text that was explored, and where are its lines if not?

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::SystemTime;

use explorer::store::findings::{KeptSource, content_hash};
use files::Kind;

use super::finding::Finding;
use super::line_map::LineMap;
use super::spot::Spot;
use crate::documents::Documents;

/// The digits that stand for a text.
type Hash = Rc<str>;

/// A file as it was when its text was looked at: when it had been changed, and how long it was.
type Version = (SystemTime, u64);

/// Cache of what was found out about texts so far. Nothing here is needed to know it again.
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

/// More than are open at a time: they are forgotten all at once.
const MOST_MAPS: usize = 256;

impl Texts {
    /// Whether a source that a finding names is another text than the one that was explored.
    pub(crate) fn is_stale(&self, finding: &Finding, documents: &Documents) -> bool {
        finding.kept.sources.iter().any(|source| {
            source.newer || self.hash(&source.path(&finding.root), documents).as_deref() != Some(&source.hash)
        })
    }

    /// Whether all these files, of a checkout, have texts with these hashes.
    pub(crate) fn are(&self, root: &Path, hashes: &BTreeMap<String, String>, documents: &Documents) -> bool {
        hashes.iter().all(|(file, hash)| self.hash(&root.join(file), documents).as_deref() == Some(hash))
    }

    /// The present line of a line of a finding.
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
        let old = finding.folder.text(source).unwrap_or_default();
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
                        let own = || content_hash(document.text.as_bytes()).into();
                        let hash: Hash = self.hash_of_reading(file, &document.text).unwrap_or_else(own);
                        open.insert(file.to_owned(), (document.version, Rc::clone(&hash)));
                        Some(hash)
                    }
                }
            }
            None => self.hash_on_disk(file),
        }
    }

    /// The digits of a file whose bytes are not the text that an editor shows for it, if they read as this text.
    fn hash_of_reading(&self, file: &Path, text: &str) -> Option<Hash> {
        let hash = self.hash_on_disk(file)?;
        let bytes = files::read(file, Kind::Text).ok().filter(|bytes| bytes != text.as_bytes())?;
        reads_as(&bytes, text).then_some(hash)
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
        let hash: Hash = content_hash(&files::read(file, Kind::Text).ok()?).into();
        known.insert(file.to_owned(), ((modified, about.len()), Rc::clone(&hash)));
        Some(hash)
    }

    /// A document was opened or closed: the knowledge of its versions is of another conversation.
    pub(crate) fn forget(&self, file: &Path) {
        self.open.borrow_mut().remove(file);
    }
}

/// Whether an editor that knows the encoding of these bytes shows them as this text: with a mark of their byte order, or in
/// an encoding like Latin-1, of which only the characters that all encodings share can be compared. Where line ends differ,
/// editors choose one of them for all.
fn reads_as(bytes: &[u8], text: &str) -> bool {
    let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
    let text = text.trim_start_matches('\u{feff}');
    let is_shared = |byte: &u8| byte.is_ascii() && *byte != b'\r';
    match std::str::from_utf8(bytes) {
        Ok(read) => read.bytes().filter(|byte| *byte != b'\r').eq(text.bytes().filter(|byte| *byte != b'\r')),
        Err(_) => bytes
            .iter()
            .filter(|byte| is_shared(byte))
            .eq(text.as_bytes().iter().filter(|byte| is_shared(byte))),
    }
}

/// A mark that some editors write at the beginning of UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

fn source<'a>(finding: &'a Finding, spot: &Spot) -> Option<&'a KeptSource> {
    finding.kept.sources.iter().find(|source| source.path(&finding.root) == spot.file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_read_as_editors_read_them() {
        for (bytes, text, expected) in [
            (b"\xef\xbb\xbfint n;\n".as_slice(), "int n;\n", true),
            (b"\xef\xbb\xbfint n;\n", "\u{feff}int n;\n", true),
            (b"// \xfcber\nint n;\n", "// \u{fc}ber\nint n;\n", true),
            (b"a\r\nb\n", "a\nb\n", true),
            (b"\xef\xbb\xbfint n;\n", "int m;\n", false),
            (b"// \xfcber\nint n;\n", "// \u{fc}ber\nint m;\n", false),
            ("// \u{fc}ber\n".as_bytes(), "// \u{f6}ber\n", false),
        ] {
            assert_eq!(reads_as(bytes, text), expected, "{text}");
        }
    }
}
