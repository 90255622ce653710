//! One pass over a compilation unit: where its functions, its types and its static variables are.

use std::ops::Range;

use gimli::{Attribute, AttributeValue, DwTag, UnitOffset};

use super::names::plain_hash;
use crate::attention;
use crate::debuginfo::dwarf::die::{DieView, ranges};
use crate::debuginfo::dwarf::reader::{Reader, Unit};
use crate::debuginfo::dwarf::sections::Dwarf;

/// Index of the entries of a compilation unit.
#[derive(Default)]
pub(crate) struct UnitIndex {
    /// Functions by address.
    functions: Vec<(Range<u64>, UnitOffset)>,
    /// Definitions of types by the hash of their names without arguments.
    types: Vec<(u64, UnitOffset)>,
    /// Variables outside of functions that have a place.
    globals: Vec<UnitOffset>,
    /// Namespaces, types and functions, in the order in which they begin.
    scopes: Vec<DeclarationScope>,
}

/// A namespace, type or function.
struct DeclarationScope {
    entries: Range<UnitOffset>,
    parent: Option<usize>,
    depth: isize,
    is_function: bool,
}

impl UnitIndex {
    pub(crate) fn new(dwarf: &Dwarf, unit: &Unit) -> Self {
        let mut pass = Pass { dwarf, unit, found: Self::default(), open: Vec::new() };
        // The entries before a damaged one are used.
        let _ = pass.run();
        let mut found = pass.found;
        found.functions.sort_by_key(|(range, _)| range.start);
        found.types.sort_unstable_by_key(|&(hash, offset)| (hash, offset.0));
        found
    }

    pub(crate) fn function_at(&self, address: u64) -> Option<UnitOffset> {
        let after = self.functions.partition_point(|(range, _)| range.start <= address);
        let (range, offset) = self.functions.get(after.checked_sub(1)?)?;
        range.contains(&address).then_some(*offset)
    }

    /// The ranges of a function's code: compilers move seldom executed parts away from the rest.
    pub(crate) fn parts_of(&self, function: UnitOffset) -> impl Iterator<Item = Range<u64>> + use<'_> {
        self.functions.iter().filter(move |(_, offset)| *offset == function).map(|(range, _)| range.clone())
    }

    /// Types whose name has this hash.
    pub(crate) fn types_named(&self, hash: u64) -> impl Iterator<Item = UnitOffset> {
        let start = self.types.partition_point(|&(other, _)| other < hash);
        self.types[start..].iter().take_while(move |&&(other, _)| other == hash).map(|&(_, offset)| offset)
    }

    pub(crate) fn globals(&self) -> &[UnitOffset] {
        &self.globals
    }

    /// The namespaces, types and functions around an entry, innermost first.
    pub(crate) fn scopes_around(&self, entry: UnitOffset) -> impl Iterator<Item = UnitOffset> {
        let before = self.scopes.partition_point(|scope| scope.entries.start.0 < entry.0);
        let nearest = before.checked_sub(1);
        std::iter::successors(nearest, |&at| self.scopes[at].parent)
            .map(|at| &self.scopes[at])
            .filter(move |scope| entry.0 < scope.entries.end.0)
            .map(|scope| scope.entries.start)
    }
}

struct Pass<'a> {
    dwarf: &'a Dwarf,
    unit: &'a Unit,
    found: UnitIndex,
    /// The scopes that the pass is within, outermost first.
    open: Vec<usize>,
}

impl Pass<'_> {
    fn run(&mut self) -> gimli::Result<()> {
        let mut attributes = Vec::new();
        let mut entries = self.unit.entries_raw(None)?;
        while !entries.is_empty() {
            attention::round();
            let (offset, depth) = (entries.next_offset(), entries.next_depth());
            let Some(abbreviation) = entries.read_abbreviation()? else { continue };
            self.close(depth, offset);
            let tag = abbreviation.tag();
            let is_wanted = matches!(tag, gimli::DW_TAG_variable) && !self.is_in_function()
                || tag == gimli::DW_TAG_subprogram
                || is_type(tag);
            if is_wanted {
                entries.read_attributes(abbreviation.attributes(), &mut attributes)?;
                self.see(tag, offset, depth, &attributes);
            } else {
                entries.skip_attributes(abbreviation.attributes())?;
            }
            if abbreviation.has_children() && is_scope(tag) {
                self.open(tag, offset, depth);
            }
        }
        self.close(isize::MIN, UnitOffset(usize::MAX));
        Ok(())
    }

    fn see(&mut self, tag: DwTag, offset: UnitOffset, depth: isize, attributes: &[Attribute<Reader>]) {
        let die = DieView { unit: self.unit, tag, offset, depth, attributes };
        match tag {
            gimli::DW_TAG_subprogram => {
                let ranges = ranges(self.dwarf, &die).into_iter().filter(|range| range.start != 0);
                self.found.functions.extend(ranges.map(|range| (range, offset)));
            }
            gimli::DW_TAG_variable => {
                let has_place = die.value(gimli::DW_AT_location).is_some()
                    || die.value(gimli::DW_AT_const_value).is_some();
                if has_place {
                    self.found.globals.push(offset);
                }
            }
            _ => {
                let is_declared =
                    matches!(die.value(gimli::DW_AT_declaration), Some(AttributeValue::Flag(true)));
                let name = die
                    .value(gimli::DW_AT_name)
                    .filter(|_| !is_declared)
                    .and_then(|value| self.dwarf.sections().attr_string(self.unit, value).ok());
                if let Some(name) = name {
                    self.found.types.push((plain_hash(name.slice()), offset));
                }
            }
        }
    }

    fn is_in_function(&self) -> bool {
        self.open.last().is_some_and(|&scope| self.found.scopes[scope].is_function)
    }

    fn open(&mut self, tag: DwTag, offset: UnitOffset, depth: isize) {
        let is_function = tag == gimli::DW_TAG_subprogram || self.is_in_function();
        let parent = self.open.last().copied();
        self.open.push(self.found.scopes.len());
        self.found.scopes.push(DeclarationScope {
            entries: offset..UnitOffset(usize::MAX),
            parent,
            depth,
            is_function,
        });
    }

    /// Ends the scopes that an entry at this depth is no longer within.
    fn close(&mut self, depth: isize, offset: UnitOffset) {
        while let Some(&last) = self.open.last()
            && self.found.scopes[last].depth >= depth
        {
            self.found.scopes[last].entries.end = offset;
            self.open.pop();
        }
    }
}

fn is_type(tag: DwTag) -> bool {
    matches!(
        tag,
        gimli::DW_TAG_structure_type
            | gimli::DW_TAG_class_type
            | gimli::DW_TAG_union_type
            | gimli::DW_TAG_enumeration_type
            | gimli::DW_TAG_typedef
    )
}

fn is_scope(tag: DwTag) -> bool {
    matches!(tag, gimli::DW_TAG_namespace | gimli::DW_TAG_subprogram)
        || (is_type(tag) && tag != gimli::DW_TAG_typedef)
}
