//! Places that an editor can open.

use std::path::{Path, PathBuf};

use explorer::report::Location;

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
