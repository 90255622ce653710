//! Tables of debug information that units name. Each unit has what it names parsed for itself, so that a small file in which many
//! units name one table could take as much time and memory as it has units times lines. No compiler writes that: what units name
//! together is hardly more than what there is.

use std::collections::BTreeSet;

use gimli::{
    AbbreviationsCacheStrategy, AttributeValue, RangeListsOffset, Reader as _, Section as _, UnitHeader,
};

use super::reader::Reader;
use crate::attention;

/// Number of times that, on average, the contents of a table may be named.
const NAMED: u64 = 8;

/// As much as this may always be named, in bytes.
const ALWAYS: u64 = 4 << 20;

/// As many units are in no program: each takes half a kilobyte of memory, and may take twelve bytes of the file.
const MOST_UNITS: usize = 2_000_000;

/// The rest of the bytes that may be named.
struct AbbreviationBudget(u64);

impl AbbreviationBudget {
    fn of(size: usize) -> Self {
        Self((size as u64).saturating_mul(NAMED).max(ALWAYS))
    }

    fn take(&mut self, size: u64) -> Option<()> {
        self.0 = self.0.checked_sub(size)?;
        Some(())
    }
}

/// Makes the sections ready for use, unless units name far more than there is.
pub(crate) fn prepared(mut sections: gimli::Dwarf<Reader>) -> Option<gimli::Dwarf<Reader>> {
    let tables = sections.debug_abbrev.reader();
    let mut room = AbbreviationBudget::of(tables.len());
    let mut units = MOST_UNITS;
    let mut offsets = BTreeSet::new();
    for header in headers(&sections) {
        units = units.checked_sub(1)?;
        offsets.insert(header.debug_abbrev_offset().0);
    }
    for offset in offsets {
        room.take(abbreviations(tables.slice().get(offset..).unwrap_or_default()))?;
    }
    // From now on, a table that many name is parsed once.
    sections.populate_abbreviations_cache(AbbreviationsCacheStrategy::All);
    let mut lines = AbbreviationBudget::of(sections.debug_line.reader().len());
    let (old, new) = (sections.ranges.debug_ranges().reader(), sections.ranges.debug_rnglists().reader());
    let mut ranges = AbbreviationBudget::of(old.len() + new.len());
    for header in headers(&sections) {
        lines.take(line_program(&sections, &header).unwrap_or(0))?;
        take_ranges(&sections, &header, &mut ranges)?;
    }
    Some(sections)
}

fn headers(sections: &gimli::Dwarf<Reader>) -> impl Iterator<Item = UnitHeader<Reader>> {
    let mut units = sections.units();
    std::iter::from_fn(move || {
        attention::round();
        units.next().ok().flatten()
    })
}

/// Number of bytes of a table of abbreviations.
fn abbreviations(bytes: &[u8]) -> u64 {
    let mut rest = gimli::EndianSlice::new(bytes, gimli::LittleEndian);
    let mut skip = || -> gimli::Result<()> {
        while rest.read_uleb128()? != 0 {
            attention::round();
            rest.read_uleb128()?;
            rest.read_u8()?;
            loop {
                let (name, form) = (rest.read_uleb128()?, rest.read_uleb128()?);
                if form == u64::from(gimli::DW_FORM_implicit_const.0) {
                    rest.read_sleb128()?;
                }
                if (name, form) == (0, 0) {
                    break;
                }
            }
        }
        Ok(())
    };
    // A table that is cut short ends with the section.
    let _ = skip();
    (bytes.len() - rest.len()) as u64
}

/// Number of bytes of the line program of a unit.
fn line_program(sections: &gimli::Dwarf<Reader>, header: &UnitHeader<Reader>) -> Option<u64> {
    let abbreviations = sections.abbreviations(header).ok()?;
    let root = header.entry(&abbreviations, header.root_offset()).ok()?;
    let Some(AttributeValue::DebugLineRef(offset)) = root.attr_value(gimli::DW_AT_stmt_list) else {
        return None;
    };
    let mut program = *sections.debug_line.reader();
    program.skip(offset.0).ok()?;
    let (length, _) = program.read_initial_length().ok()?;
    Some(length.min(program.len()) as u64)
}

/// Takes room for what the list of ranges of a unit holds, which is read for that.
fn take_ranges(
    sections: &gimli::Dwarf<Reader>,
    header: &UnitHeader<Reader>,
    room: &mut AbbreviationBudget,
) -> Option<()> {
    let Some(mut list) = range_list(sections, header) else { return Some(()) };
    while let Ok(Some(_)) = list.next() {
        attention::round();
        room.take(1)?;
    }
    Some(())
}

fn range_list(
    sections: &gimli::Dwarf<Reader>,
    header: &UnitHeader<Reader>,
) -> Option<gimli::RawRngListIter<Reader>> {
    let abbreviations = sections.abbreviations(header).ok()?;
    let root = header.entry(&abbreviations, header.root_offset()).ok()?;
    let offset = match root.attr_value(gimli::DW_AT_ranges)? {
        AttributeValue::RangeListsRef(offset) => RangeListsOffset(offset.0),
        AttributeValue::DebugRngListsIndex(index) => {
            let Some(AttributeValue::DebugRngListsBase(base)) = root.attr_value(gimli::DW_AT_rnglists_base)
            else {
                return None;
            };
            sections.ranges.get_offset(header.encoding(), base, index).ok()?
        }
        _ => return None,
    };
    sections.ranges.raw_ranges(offset, header.encoding()).ok()
}
