//! Walking debugging information entries, and what they are called.

use std::ops::Range;
use std::sync::Arc;

use gimli::{Attribute, AttributeValue, DebugInfoOffset, DwAt, DwTag, UnitOffset};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::reader::{Reader, Unit};
use super::sections::Dwarf;
use crate::attention;
use crate::debuginfo::demangle::demangle;

/// An entry of a unit on a walk, with its attributes.
pub(crate) struct DieView<'a> {
    pub(crate) unit: &'a Unit,
    pub(crate) tag: DwTag,
    pub(crate) offset: UnitOffset,
    pub(crate) depth: isize,
    pub(crate) attributes: &'a [Attribute<Reader>],
}

impl DieView<'_> {
    pub(crate) fn value(&self, name: DwAt) -> Option<AttributeValue<Reader>> {
        self.attributes.iter().find(|attribute| attribute.name() == name).map(Attribute::value)
    }
}

/// Shows every entry of a unit that has one of the wanted tags; the others cost next to nothing.
pub(crate) fn visit(unit: &Unit, wanted: &[DwTag], see: &mut dyn FnMut(&DieView<'_>)) {
    let mut attributes = Vec::new();
    let mut walk = || -> gimli::Result<()> {
        let mut entries = unit.entries_raw(None)?;
        while !entries.is_empty() {
            attention::round();
            let (offset, depth) = (entries.next_offset(), entries.next_depth());
            let Some(abbreviation) = entries.read_abbreviation()? else { continue };
            if wanted.contains(&abbreviation.tag()) {
                entries.read_attributes(abbreviation.attributes(), &mut attributes)?;
                see(&DieView { unit, tag: abbreviation.tag(), offset, depth, attributes: &attributes });
            } else {
                entries.skip_attributes(abbreviation.attributes())?;
            }
        }
        Ok(())
    };
    // The entries before a damaged one are used; there is nothing better to do with the rest.
    let _ = walk();
}

/// The entry that a reference attribute points to, in whatever unit.
pub(crate) fn target<'a>(
    dwarf: &'a Dwarf,
    unit: &'a Unit,
    reference: AttributeValue<Reader>,
) -> Option<(&'a Unit, UnitOffset)> {
    match reference {
        AttributeValue::UnitRef(offset) => Some((unit, offset)),
        AttributeValue::DebugInfoRef(offset) => {
            let (index, offset) = locate(dwarf, offset)?;
            Some((&dwarf.units()[index], offset))
        }
        AttributeValue::DebugTypesRef(signature) => {
            let (index, offset) = dwarf.type_unit(signature)?;
            Some((&dwarf.units()[index], offset))
        }
        _ => None,
    }
}

/// The unit, by its index, that has an entry at an offset of the section.
pub(crate) fn locate(dwarf: &Dwarf, offset: DebugInfoOffset) -> Option<(usize, UnitOffset)> {
    let units = dwarf.units();
    let index = units.partition_point(|unit| start(unit) <= offset).checked_sub(1)?;
    Some((index, offset.to_unit_offset(&units[index].header)?))
}

/// Offset of a unit in its section.
fn start(unit: &Unit) -> DebugInfoOffset {
    DebugInfoOffset(unit.header.offset().0)
}

/// Names of functions and variables, each read and demangled once.
pub(crate) struct Names<'a> {
    dwarf: &'a Dwarf,
    /// Names without any of these words are of no use; all are where there is none.
    words: &'a [&'a str],
    known: FxHashMap<(DebugInfoOffset, UnitOffset), Option<Arc<str>>>,
}

impl<'a> Names<'a> {
    pub(crate) fn new(dwarf: &'a Dwarf) -> Self {
        Self::with_words(dwarf, &[])
    }

    /// Names in which one of these words is; the others are empty. An identifier stands in a mangled name as it is written, so
    /// that most of the names of a program need not be demangled, which takes longer than to read them.
    pub(crate) fn with_words(dwarf: &'a Dwarf, words: &'a [&'a str]) -> Self {
        Self { dwarf, words, known: FxHashMap::default() }
    }

    /// The name of an entry that has no children names of its own: by linkage name, else as written, else that of the
    /// entry that it is an instance of.
    pub(crate) fn of(&mut self, die: &DieView<'_>) -> Option<Arc<str>> {
        self.of_values(die.unit, &|name| die.value(name), 8)
    }

    fn of_values(
        &mut self,
        unit: &Unit,
        value: &dyn Fn(DwAt) -> Option<AttributeValue<Reader>>,
        depth: u32,
    ) -> Option<Arc<str>> {
        let text = |name| {
            let text = self.dwarf.sections().attr_string(unit, value(name)?).ok()?;
            let text = text.to_string_lossy();
            let is_useful = self.words.is_empty() || self.words.iter().any(|word| text.contains(word));
            Some(if is_useful { Arc::from(demangle(&text)) } else { Arc::default() })
        };
        if let Some(own) = text(gimli::DW_AT_linkage_name).or_else(|| text(gimli::DW_AT_MIPS_linkage_name)) {
            return Some(own);
        }
        let origin = value(gimli::DW_AT_abstract_origin).or_else(|| value(gimli::DW_AT_specification));
        // A declaration may have the linkage name that its definition has not.
        let inherited = origin.and_then(|origin| {
            let (unit, offset) = target(self.dwarf, unit, origin)?;
            self.at(unit, offset, depth.checked_sub(1)?)
        });
        inherited.or_else(|| text(gimli::DW_AT_name))
    }

    /// The name of the entry at an offset, following at most `depth` references.
    pub(crate) fn at(&mut self, unit: &Unit, offset: UnitOffset, depth: u32) -> Option<Arc<str>> {
        let key = (start(unit), offset);
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let entry = unit.entry(offset).ok();
        let name = entry.and_then(|entry| self.of_values(unit, &|name| entry.attr_value(name), depth));
        self.known.insert(key, name.clone());
        name
    }
}

/// The instructions of a function or inlined call.
pub(crate) fn ranges(dwarf: &Dwarf, die: &DieView<'_>) -> SmallVec<[Range<u64>; 1]> {
    let sections = dwarf.sections();
    let mut found: SmallVec<[Range<u64>; 1]> = SmallVec::new();
    let address = |value| sections.attr_address(die.unit, value).ok().flatten();
    if let Some(start) = die.value(gimli::DW_AT_low_pc).and_then(address) {
        let end = match die.value(gimli::DW_AT_high_pc) {
            Some(AttributeValue::Udata(size)) => start.checked_add(size),
            Some(other) => address(other),
            None => None,
        };
        found.extend(end.map(|end| start..end));
    } else if let Some(list) = die.value(gimli::DW_AT_ranges)
        && let Ok(Some(mut list)) = sections.attr_ranges(die.unit, list)
    {
        while let Ok(Some(range)) = list.next() {
            attention::round();
            found.push(range.begin..range.end);
        }
    }
    found.retain(|range| range.start < range.end);
    found
}
