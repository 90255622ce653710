//! The sources that a finding names as they were when it was made, for where they have been edited since.

use std::cell::RefCell;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use files::Kind;

use super::code::is_same_file;
use crate::debug::error::DebugError;
use crate::store::findings::{KeptFinding, KeptFolder, KeptSource, content_hash};

/// The sources of a finding.
#[derive(Default)]
pub(in crate::debug) struct Texts(Vec<ExploredSource>);

/// A source, and its text as it was explored.
struct ExploredSource {
    file: PathBuf,
    folder: KeptFolder,
    source: KeptSource,
    /// Whether the file has another text now, with the stamp at which that was looked at.
    edited: RefCell<Option<(TextStamp, bool)>>,
}

/// Tells two states of a file apart without reading it; none where there is no file.
type TextStamp = Option<(u64, u64, i64, i64)>;

impl Texts {
    /// Those of a finding of the checkout at `root`. A file that was changed before it was explored, but after the program
    /// was built, is not the one that ran: it is left out.
    pub(in crate::debug) fn of(finding: &KeptFinding, folder: &KeptFolder, root: &Path) -> Self {
        let built = finding.sources.iter().filter(|source| !source.newer);
        let text = |source: &KeptSource| ExploredSource {
            file: source.path(root),
            folder: folder.clone(),
            source: source.clone(),
            edited: RefCell::default(),
        };
        Self(built.map(text).collect())
    }

    /// The number, from 1, of the text that a file had, if it has another one now.
    pub(in crate::debug) fn as_explored(&self, file: &Path) -> Option<u64> {
        let index = self.0.iter().position(|text| is_same_file(&text.file, file))?;
        self.0[index].is_edited().then_some(index as u64 + 1)
    }

    /// The files that have been edited, with the numbers of their texts.
    pub(in crate::debug) fn edited(&self) -> Vec<(PathBuf, u64)> {
        let texts = (1..).zip(&self.0).filter(|(_, text)| text.is_edited());
        texts.map(|(number, text)| (text.file.clone(), number)).collect()
    }

    /// The text of a number.
    pub(in crate::debug) fn read(&self, number: u64) -> Result<String, DebugError> {
        let unknown = || DebugError::Unknown(format!("there is no source of number {number}"));
        let text = self.text(number).ok_or_else(unknown)?;
        let gone = |error| DebugError::Unknown(format!("the text as it was explored is not there: {error}"));
        let bytes = text.folder.text(&text.source).map_err(gone)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The file whose text has a number.
    pub(in crate::debug) fn file(&self, number: u64) -> Option<&Path> {
        self.text(number).map(|text| text.file.as_path())
    }

    fn text(&self, number: u64) -> Option<&ExploredSource> {
        self.0.get(usize::try_from(number).ok()?.checked_sub(1)?)
    }
}

impl ExploredSource {
    fn is_edited(&self) -> bool {
        let now = self.file.metadata().ok();
        let stamp = now.map(|about| (about.ino(), about.len(), about.mtime(), about.mtime_nsec()));
        let known = self.edited.borrow().filter(|(at, _)| *at == stamp);
        if let Some((_, edited)) = known {
            return edited;
        }
        let text = files::read(&self.file, Kind::Text);
        let edited = text.map_or(true, |text| content_hash(&text) != self.source.hash);
        self.edited.replace(Some((stamp, edited)));
        edited
    }
}
