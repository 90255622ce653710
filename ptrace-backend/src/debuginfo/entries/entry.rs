//! Entries of debug information, and what refers to one.

use gimli::UnitOffset;

/// An entry of an image's debug information.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Ref {
    /// Index among the units of the image.
    pub(crate) unit: usize,
    pub(crate) offset: UnitOffset,
}

/// Number of references in a row that are followed; damaged files have circles.
pub(crate) const MOST_REFERENCES: usize = 16;
