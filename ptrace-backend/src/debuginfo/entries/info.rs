//! Access to functions, types and static variables in one image's debug information: found when first asked for.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::{OnceLock, PoisonError};

use gimli::{AttributeValue, DwAt, Operation};

use super::entry::{MOST_REFERENCES, Ref};
use super::index::Index;
use super::names::{last_segment, plain_hash};
use super::unit_index::UnitIndex;
use crate::attention;
use crate::debuginfo::dwarf::die::locate;
use crate::debuginfo::dwarf::lines;
use crate::debuginfo::dwarf::reader::{Die, Reader, Unit};
use crate::debuginfo::dwarf::sections::Dwarf;
use crate::debuginfo::dwarf::source_unit::{Language, SourceUnit};
use crate::debuginfo::elf::debug_files::DebugFiles;

/// An image's debug information with its index.
#[derive(Clone, Copy)]
pub(crate) struct Info<'a> {
    pub(crate) files: &'a DebugFiles,
    pub(crate) dwarf: &'a Dwarf,
    pub(crate) index: &'a Index,
}

impl<'a> Info<'a> {
    pub(crate) fn unit(self, entry: Ref) -> Option<&'a Unit> {
        self.dwarf.units().get(entry.unit)
    }

    pub(crate) fn die(self, entry: Ref) -> Option<Die> {
        self.unit(entry)?.entry(entry.offset).ok()
    }

    /// Index of a unit's code and names.
    pub(crate) fn unit_index(self, unit: usize) -> Option<&'a UnitIndex> {
        let empty = || self.dwarf.units().iter().map(|_| OnceLock::new()).collect();
        let cell = self.index.units.get_or_init(empty).get(unit)?;
        Some(cell.get_or_init(|| UnitIndex::new(self.dwarf, &self.dwarf.units()[unit])))
    }

    pub(crate) fn source(self, unit: usize) -> Option<&'a SourceUnit> {
        let empty = || self.dwarf.units().iter().map(|_| OnceLock::new()).collect();
        let cell = self.index.sources.get_or_init(empty).get(unit)?;
        Some(cell.get_or_init(|| SourceUnit::new(self.dwarf, &self.dwarf.units()[unit])))
    }

    pub(crate) fn language(self, unit: usize) -> Language {
        self.source(unit).map_or(Language::Other, |source| source.language)
    }

    /// The function whose code holds a static address.
    pub(crate) fn function_at(self, address: u64) -> Option<Ref> {
        let by_address = self.index.by_address.get_or_init(|| units_by_address(self.dwarf));
        let after = by_address.partition_point(|(range, _)| range.start <= address);
        // Ranges of units may overlap where they are damaged only: the nearest start is tried first.
        by_address[..after]
            .iter()
            .rev()
            .take(4)
            .filter(|(range, _)| range.contains(&address))
            .find_map(|&(_, unit)| Some(Ref { unit, offset: self.unit_index(unit)?.function_at(address)? }))
    }

    /// All code of the function whose code holds a static address; nothing where debug information has no such function.
    pub(crate) fn function_parts(self, address: u64) -> Vec<Range<u64>> {
        let function = self.function_at(address);
        let unit = function.and_then(|function| self.unit_index(function.unit));
        let parts = function.zip(unit).map(|(function, unit)| unit.parts_of(function.offset));
        parts.into_iter().flatten().collect()
    }

    /// The entry that a reference attribute of `from` leads to.
    pub(crate) fn target(self, from: usize, value: AttributeValue<Reader>) -> Option<Ref> {
        match value {
            AttributeValue::UnitRef(offset) => Some(Ref { unit: from, offset }),
            AttributeValue::DebugInfoRef(offset) => {
                let (unit, offset) = locate(self.dwarf, offset)?;
                Some(Ref { unit, offset })
            }
            AttributeValue::DebugTypesRef(signature) => {
                let (unit, offset) = self.dwarf.type_unit(signature)?;
                Some(Ref { unit, offset })
            }
            _ => None,
        }
    }

    /// An attribute of an entry, or of the entry that it is an instance or the definition of.
    pub(crate) fn inherited(self, entry: Ref, name: DwAt) -> Option<(Ref, AttributeValue<Reader>)> {
        let mut here = entry;
        for _ in 0..MOST_REFERENCES {
            let die = self.die(here)?;
            if let Some(value) = die.attr_value(name) {
                return Some((here, value));
            }
            here = self.origin(here.unit, &die)?;
        }
        None
    }

    /// The entry that another is an instance or the definition of.
    pub(crate) fn origin(self, unit: usize, die: &Die) -> Option<Ref> {
        let value = die
            .attr_value(gimli::DW_AT_abstract_origin)
            .or_else(|| die.attr_value(gimli::DW_AT_specification));
        self.target(unit, value?)
    }

    /// An entry's own name or that of its origin.
    pub(crate) fn name(self, entry: Ref) -> Option<String> {
        let (owner, value) = self.inherited(entry, gimli::DW_AT_name)?;
        self.text(owner.unit, value)
    }

    pub(crate) fn text(self, unit: usize, value: AttributeValue<Reader>) -> Option<String> {
        let unit = self.dwarf.units().get(unit)?;
        Some(self.dwarf.sections().attr_string(unit, value).ok()?.to_string_lossy().into_owned())
    }

    /// The type that an entry or its origin names.
    pub(crate) fn kind(self, entry: Ref) -> Option<Ref> {
        let (owner, value) = self.inherited(entry, gimli::DW_AT_type)?;
        self.target(owner.unit, value)
    }

    /// The static address of a variable that is nowhere else.
    pub(crate) fn fixed_address(self, entry: Ref) -> Option<u64> {
        let unit = self.unit(entry)?;
        let AttributeValue::Exprloc(expression) = self.die(entry)?.attr_value(gimli::DW_AT_location)? else {
            return None;
        };
        let mut operations = expression.operations(unit.encoding());
        let address = match operations.next().ok()?? {
            Operation::Address { address } => address,
            Operation::AddressIndex { index } => self.dwarf.sections().address(unit, index).ok()?,
            _ => return None,
        };
        (operations.next().ok()?.is_none() && address != 0).then_some(address)
    }

    /// An entry's name with the namespaces and types around it.
    pub(crate) fn qualified(self, entry: Ref, name: &str) -> String {
        let Some(index) = self.unit_index(entry.unit) else { return name.to_owned() };
        let mut path: Vec<String> = index
            .scopes_around(entry.offset)
            .map_while(|offset| {
                let die = self.die(Ref { unit: entry.unit, offset })?;
                let is_function = die.tag() == gimli::DW_TAG_subprogram;
                let text = die.attr_value(gimli::DW_AT_name).and_then(|value| self.text(entry.unit, value));
                (!is_function).then(|| text.unwrap_or_else(|| "(anonymous)".to_owned()))
            })
            .collect();
        path.reverse();
        path.push(name.to_owned());
        path.join("::")
    }

    /// The definition of a type, by its qualified name: its own unit is asked first, then all others.
    pub(crate) fn definition(self, near: usize, qualified: &str) -> Option<Ref> {
        let mut known = self.index.definitions.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known.get(qualified) {
            return *found;
        }
        let name = last_segment(qualified);
        let others = (0..self.dwarf.units().len()).filter(|&unit| unit != near);
        let found = std::iter::once(near).chain(others).find_map(|unit| {
            self.types_named(unit, name).find(|&entry| {
                self.name(entry).is_some_and(|own| own == name && self.qualified(entry, name) == qualified)
            })
        });
        known.insert(qualified.to_owned(), found);
        found
    }

    /// The definitions in a unit that have a name when arguments are left out.
    pub(super) fn types_named(self, unit: usize, name: &str) -> impl Iterator<Item = Ref> {
        let found = self.unit_index(unit).map(|index| index.types_named(plain_hash(name.as_bytes())));
        found.into_iter().flatten().map(move |offset| Ref { unit, offset })
    }
}

fn units_by_address(dwarf: &Dwarf) -> Vec<(Range<u64>, usize)> {
    let mut all = Vec::new();
    for (index, unit) in dwarf.units().iter().enumerate() {
        let Ok(mut ranges) = dwarf.sections().unit_ranges(unit) else { continue };
        while let Ok(Some(range)) = ranges.next() {
            attention::round();
            if range.begin < range.end && range.begin != 0 {
                all.push((range.begin..range.end, index));
            }
        }
    }
    all.sort_by_key(|(range, _)| range.start);
    all
}

/// Shows the entries directly below one.
pub(crate) fn children(info: Info<'_>, parent: Ref, see: &mut dyn FnMut(usize, &Die)) {
    let mut walk = || -> gimli::Result<()> {
        let Some(unit) = info.unit(parent) else { return Ok(()) };
        let mut tree = unit.entries_tree(Some(parent.offset))?;
        let mut children = tree.root()?.children();
        while let Some(child) = children.next()? {
            see(parent.unit, child.entry());
        }
        Ok(())
    };
    // A damaged entry ends the list.
    let _ = walk();
}

/// The file that declares a variable or function; none for what the compiler made up.
pub(crate) fn file_of(info: Info<'_>, entry: Ref) -> Option<PathBuf> {
    let (owner, value) = info.inherited(entry, gimli::DW_AT_decl_file)?;
    let index = match value {
        AttributeValue::FileIndex(index) => index,
        other => other.udata_value()?,
    };
    let unit = info.dwarf.units().get(owner.unit)?;
    let header = unit.line_program.as_ref()?.header();
    Some(lines::file_path(info.dwarf, unit, header, index))
}
