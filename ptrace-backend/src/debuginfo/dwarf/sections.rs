//! The DWARF sections of an image, parsed as late as possible.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, OnceLock};

use gimli::{DebugTypeSignature, LittleEndian, SectionId, UnitOffset, UnitType};
use rustc_hash::FxHashMap;

use super::bounded;
use super::reader::{Reader, Unit};
use crate::attention;
use crate::debuginfo::elf::bytes::PinnedBytes;
use crate::debuginfo::elf::file::ElfBytes;

/// The DWARF information of one image.
pub(crate) struct Dwarf {
    sections: Arc<gimli::Dwarf<Reader>>,
    units: OnceLock<Vec<Unit>>,
    type_units: OnceLock<FxHashMap<u64, (usize, UnitOffset)>>,
    context: OnceLock<Option<Mutex<addr2line::Context<Reader>>>>,
    /// Inflated sections. Dropped last: everything above borrows from them.
    _inflated: Vec<PinnedBytes>,
}

impl Dwarf {
    /// Finds the sections in `elf`, which has to outlive the result.
    pub(crate) fn new(elf: &ElfBytes) -> Option<Self> {
        if !elf.has_section(".debug_line") && !elf.has_section(".debug_info") {
            return None;
        }
        let (mut inflated, mut most) = (Vec::new(), elf.inflatable());
        let load = |id: SectionId| -> Result<Reader, gimli::Error> {
            let bytes = match elf.inflated(id.name(), &mut most) {
                Cow::Borrowed(bytes) => bytes,
                Cow::Owned(owned) => {
                    inflated.push(PinnedBytes::new(owned));
                    // SAFETY: the bytes go into the same structure as what is parsed from them, and are dropped last.
                    inflated.last().map(|bytes| unsafe { bytes.detached() }).unwrap_or_default()
                }
            };
            Ok(Reader::new(bytes, LittleEndian))
        };
        let sections = bounded::prepared(gimli::Dwarf::load(load).ok()?)?;
        Some(Self {
            sections: Arc::new(sections),
            units: OnceLock::new(),
            type_units: OnceLock::new(),
            context: OnceLock::new(),
            _inflated: inflated,
        })
    }

    pub(crate) fn sections(&self) -> &gimli::Dwarf<Reader> {
        &self.sections
    }

    /// Every unit that can be parsed, by its offset in the section.
    pub(crate) fn units(&self) -> &[Unit] {
        self.units.get_or_init(|| {
            let mut headers = self.sections.units();
            let mut units = Vec::new();
            while let Ok(Some(header)) = headers.next() {
                attention::round();
                units.extend(self.sections.unit(header));
            }
            units
        })
    }

    /// The unit, by its index, and the entry there, of a type that has a unit to itself.
    pub(crate) fn type_unit(&self, signature: DebugTypeSignature) -> Option<(usize, UnitOffset)> {
        let collect = || {
            let units = self.units().iter().enumerate();
            units
                .filter_map(|(index, unit)| match unit.header.type_() {
                    UnitType::Type { type_signature, type_offset } => {
                        Some((type_signature.0, (index, type_offset)))
                    }
                    _ => None,
                })
                .collect()
        };
        self.type_units.get_or_init(collect).get(&signature.0).copied()
    }

    /// Runs `look` with the address-to-line translation.
    pub(crate) fn with_context<T>(&self, look: impl FnOnce(&addr2line::Context<Reader>) -> T) -> Option<T> {
        let context = self.context.get_or_init(|| {
            addr2line::Context::from_arc_dwarf(Arc::clone(&self.sections)).ok().map(Mutex::new)
        });
        let guard = context.as_ref()?.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        // On damaged tables its arithmetic overflows, which builds with overflow checks turn into panics.
        attention::unless_panics(|| look(&guard))
    }
}
