//! Index of one image's debug information, kept once it was asked for.

use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock};

use rustc_hash::FxHashMap;

use super::entry::Ref;
use super::shape::Shape;
use super::unit_index::UnitIndex;
use crate::debuginfo::dwarf::source_unit::SourceUnit;

/// The static variables of the user's compilation units by the last part of their names.
pub(crate) type GlobalNames = FxHashMap<String, Vec<Ref>>;

/// The parts of an image's debug information that were read so far.
#[derive(Default)]
pub(crate) struct Index {
    pub(super) units: OnceLock<Vec<OnceLock<UnitIndex>>>,
    pub(super) sources: OnceLock<Vec<OnceLock<SourceUnit>>>,
    /// The units by the addresses of their code.
    pub(super) by_address: OnceLock<Vec<(Range<u64>, usize)>>,
    pub(super) shapes: Mutex<FxHashMap<Ref, Arc<Shape>>>,
    pub(super) definitions: Mutex<FxHashMap<String, Option<Ref>>>,
    pub(super) globals: OnceLock<GlobalNames>,
    /// The entries of Rust's tables of methods by static address.
    pub(crate) method_tables: OnceLock<FxHashMap<u64, Ref>>,
}
