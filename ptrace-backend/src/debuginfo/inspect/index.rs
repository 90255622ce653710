//! Where functions, types and static variables are in one image's debug information: found when first asked for.

use std::collections::hash_map::Entry;
use std::hash::{BuildHasher, BuildHasherDefault};
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use gimli::{AttributeValue, DwAt, Operation, UnitOffset};
use rustc_hash::{FxHashMap, FxHasher};

use super::globals::{GlobalNames, global_names};
use super::libraries::method_tables;
use super::shape::{Form, Shape, read_shape};
use super::unit_index::UnitIndex;
use crate::attention;
use crate::debuginfo::die::locate;
use crate::debuginfo::dwarf::{Dwarf, Reader, Unit};
use crate::debuginfo::image::Image;
use crate::debuginfo::lines::{Language, SourceUnit};

pub(super) type Die = gimli::DebuggingInformationEntry<Reader>;

/// An entry of an image's debug information.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(in crate::debuginfo) struct Ref {
    /// Index in [`Dwarf::units`].
    pub(super) unit: usize,
    pub(super) offset: UnitOffset,
}

/// How many references in a row are followed; damaged files have circles.
pub(super) const MOST_REFERENCES: usize = 16;

/// What was found out about an image so far.
#[derive(Default)]
pub(in crate::debuginfo) struct Index {
    units: OnceLock<Vec<OnceLock<UnitIndex>>>,
    sources: OnceLock<Vec<OnceLock<SourceUnit>>>,
    /// The units by the addresses of their code.
    by_address: OnceLock<Vec<(Range<u64>, usize)>>,
    shapes: Mutex<FxHashMap<Ref, Arc<Shape>>>,
    definitions: Mutex<FxHashMap<String, Option<Ref>>>,
    globals: OnceLock<GlobalNames>,
    method_tables: OnceLock<FxHashMap<u64, Ref>>,
}

/// An image's debug information with its index.
#[derive(Clone, Copy)]
pub(super) struct Info<'a> {
    pub(super) image: &'a Image,
    pub(super) dwarf: &'a Dwarf,
    pub(super) index: &'a Index,
}

impl Index {
    /// All code of the function whose code holds a static address; nothing where debug information has no such function.
    pub(in crate::debuginfo) fn function_parts(
        &self,
        image: &Image,
        dwarf: &Dwarf,
        address: u64,
    ) -> Vec<Range<u64>> {
        let info = Info { image, dwarf, index: self };
        let function = info.function_at(address);
        let unit = function.and_then(|function| info.unit_index(function.unit));
        let parts = function.zip(unit).map(|(function, unit)| unit.parts_of(function.offset));
        parts.into_iter().flatten().collect()
    }
}

impl<'a> Info<'a> {
    pub(super) fn unit(self, entry: Ref) -> Option<&'a Unit> {
        self.dwarf.units().get(entry.unit)
    }

    pub(super) fn die(self, entry: Ref) -> Option<Die> {
        self.unit(entry)?.entry(entry.offset).ok()
    }

    /// What is known of a unit's code and names.
    pub(super) fn unit_index(self, unit: usize) -> Option<&'a UnitIndex> {
        let empty = || self.dwarf.units().iter().map(|_| OnceLock::new()).collect();
        let cell = self.index.units.get_or_init(empty).get(unit)?;
        Some(cell.get_or_init(|| UnitIndex::new(self.dwarf, &self.dwarf.units()[unit])))
    }

    pub(super) fn source(self, unit: usize) -> Option<&'a SourceUnit> {
        let empty = || self.dwarf.units().iter().map(|_| OnceLock::new()).collect();
        let cell = self.index.sources.get_or_init(empty).get(unit)?;
        Some(cell.get_or_init(|| SourceUnit::new(self.dwarf, &self.dwarf.units()[unit])))
    }

    pub(super) fn language(self, unit: usize) -> Language {
        self.source(unit).map_or(Language::Other, |source| source.language)
    }

    /// The function whose code holds a static address.
    pub(super) fn function_at(self, address: u64) -> Option<Ref> {
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

    /// The entry that a reference attribute of `from` leads to.
    pub(super) fn target(self, from: usize, value: AttributeValue<Reader>) -> Option<Ref> {
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
    pub(super) fn inherited(self, entry: Ref, name: DwAt) -> Option<(Ref, AttributeValue<Reader>)> {
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
    pub(super) fn origin(self, unit: usize, die: &Die) -> Option<Ref> {
        let value = die
            .attr_value(gimli::DW_AT_abstract_origin)
            .or_else(|| die.attr_value(gimli::DW_AT_specification));
        self.target(unit, value?)
    }

    /// An entry's own name or that of its origin.
    pub(super) fn name(self, entry: Ref) -> Option<String> {
        let (owner, value) = self.inherited(entry, gimli::DW_AT_name)?;
        self.text(owner.unit, value)
    }

    pub(super) fn text(self, unit: usize, value: AttributeValue<Reader>) -> Option<String> {
        let unit = self.dwarf.units().get(unit)?;
        Some(self.dwarf.sections().attr_string(unit, value).ok()?.to_string_lossy().into_owned())
    }

    /// The type that an entry or its origin names.
    pub(super) fn kind(self, entry: Ref) -> Option<Ref> {
        let (owner, value) = self.inherited(entry, gimli::DW_AT_type)?;
        self.target(owner.unit, value)
    }

    /// The static variables of the user's code by name.
    pub(super) fn global_names(self) -> &'a GlobalNames {
        self.index.globals.get_or_init(|| global_names(self))
    }

    /// The entries of Rust's tables of methods by static address.
    pub(super) fn method_tables(self) -> &'a FxHashMap<u64, Ref> {
        self.index.method_tables.get_or_init(|| method_tables(self))
    }

    /// The static address of a variable that is nowhere else.
    pub(super) fn fixed_address(self, entry: Ref) -> Option<u64> {
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

    /// What a type is made of.
    pub(super) fn shape(self, kind: Ref) -> Arc<Shape> {
        let mut shapes = self.index.shapes.lock().unwrap_or_else(PoisonError::into_inner);
        match shapes.entry(kind) {
            Entry::Occupied(known) => Arc::clone(known.get()),
            Entry::Vacant(new) => Arc::clone(new.insert(Arc::new(read_shape(self, kind)))),
        }
    }

    /// An entry's name with the namespaces and types around it.
    pub(super) fn qualified(self, entry: Ref, name: &str) -> String {
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
    pub(super) fn definition(self, near: usize, qualified: &str) -> Option<Ref> {
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
    fn types_named(self, unit: usize, name: &str) -> impl Iterator<Item = Ref> {
        let found = self.unit_index(unit).map(|index| index.types_named(plain_hash(name.as_bytes())));
        found.into_iter().flatten().map(move |offset| Ref { unit, offset })
    }

    /// The instance of a template whose first argument is a type.
    pub(super) fn instance(self, unit: usize, family: &str, argument: Ref) -> Option<Ref> {
        let name = last_segment(family);
        self.types_named(unit, name).find(|&entry| {
            let shape = self.shape(entry);
            let Form::Composite(parts) = &shape.form else { return false };
            parts.arguments.first().is_some_and(|first| first.kind == Some(argument))
                && self.qualified(entry, name) == family
        })
    }
}

/// The part of a C++ or Rust path behind its last `::` that is not within brackets.
pub(super) fn last_segment(path: &str) -> &str {
    let mut depth = 0_usize;
    let bytes = path.as_bytes();
    for at in (1..bytes.len()).rev() {
        match bytes[at] {
            b'>' | b')' | b'}' => depth += 1,
            b'<' | b'(' | b'{' => depth = depth.saturating_sub(1),
            b':' if depth == 0 && bytes[at - 1] == b':' => return &path[at + 1..],
            _ => {}
        }
    }
    path
}

/// The hash that types are found by: that of their name without arguments.
pub(super) fn plain_hash(name: &[u8]) -> u64 {
    let plain = name.split(|&byte| byte == b'<').next().unwrap_or(name);
    BuildHasherDefault::<FxHasher>::default().hash_one(plain)
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
