//! The DWARF sections of an image, parsed as late as possible.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use gimli::{DebugTypeSignature, EndianSlice, LittleEndian, SectionId, UnitOffset, UnitType};
use rustc_hash::FxHashMap;

use super::bounded;
use super::bytes::Bytes;
use super::elf::ElfBytes;
use crate::attention;

pub(super) type Reader = EndianSlice<'static, LittleEndian>;
pub(super) type Unit = gimli::Unit<Reader>;

/// The DWARF information of one image.
pub(super) struct Dwarf {
    sections: Arc<gimli::Dwarf<Reader>>,
    units: OnceLock<Vec<Unit>>,
    type_units: OnceLock<FxHashMap<u64, (usize, UnitOffset)>>,
    context: OnceLock<Option<Mutex<addr2line::Context<Reader>>>>,
    /// What had to be inflated. Dropped last: everything above borrows from it.
    _inflated: Vec<Bytes>,
}

impl Dwarf {
    /// Finds the sections in `elf`, which has to outlive the result.
    pub(super) fn new(elf: &ElfBytes) -> Option<Self> {
        if !elf.has_section(".debug_line") && !elf.has_section(".debug_info") {
            return None;
        }
        let (mut inflated, mut most) = (Vec::new(), elf.inflatable());
        let load = |id: SectionId| -> Result<Reader, gimli::Error> {
            let bytes = match elf.inflated(id.name(), &mut most) {
                Cow::Borrowed(bytes) => bytes,
                Cow::Owned(owned) => {
                    inflated.push(Bytes::new(owned));
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

    pub(super) fn sections(&self) -> &gimli::Dwarf<Reader> {
        &self.sections
    }

    /// Every unit that can be parsed, by its offset in the section.
    pub(super) fn units(&self) -> &[Unit] {
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
    pub(super) fn type_unit(&self, signature: DebugTypeSignature) -> Option<(usize, UnitOffset)> {
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
    pub(super) fn with_context<T>(&self, look: impl FnOnce(&addr2line::Context<Reader>) -> T) -> Option<T> {
        let context = self.context.get_or_init(|| {
            addr2line::Context::from_arc_dwarf(Arc::clone(&self.sections)).ok().map(Mutex::new)
        });
        let guard = context.as_ref()?.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        // On damaged tables its arithmetic overflows, which builds with overflow checks turn into panics.
        attention::unless_panics(|| look(&guard))
    }
}

/// The file that a distribution or `objcopy --only-keep-debug` put an image's debug information into.
pub(super) fn companion(image: &Path, elf: &ElfBytes) -> Option<ElfBytes> {
    let by_id = elf.build_id().filter(|id| id.len() > 2).map(|id| {
        let (start, rest) = id.split_at(2);
        PathBuf::from(format!("/usr/lib/debug/.build-id/{start}/{rest}.debug"))
    });
    let folder = image.parent().unwrap_or(Path::new("."));
    let by_link = elf.debug_link().map(|name| [folder.join(&name), folder.join(".debug").join(&name)]);
    let candidates = by_id.into_iter().chain(by_link.into_iter().flatten());
    let found = candidates.filter(|path| path != image).filter_map(|path| ElfBytes::read(&path).ok());
    found.into_iter().find(|other| other.build_id() == elf.build_id())
}
