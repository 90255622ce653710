//! Static variables by address.

use std::sync::Arc;

use gimli::{AttributeValue, Operation, UnitOffset};

use super::die::{DieView, Names, target, visit};
use super::reader::{Reader, Unit};
use super::sections::Dwarf;
use super::source_unit::{Language, SourceUnit};
use super::types;
use crate::debuginfo::demangle::without_crate;

/// A variable that lives at a fixed address.
struct StaticVariable {
    address: u64,
    size: u64,
    name: Arc<str>,
    /// Index in [`Dwarf::units`], and the type's entry there.
    kind: Option<(usize, UnitOffset)>,
}

/// The static variables that DWARF knows, by address.
pub(crate) struct Variables(Vec<StaticVariable>);

impl Variables {
    pub(crate) fn new(dwarf: &Dwarf) -> Self {
        let mut all = Vec::new();
        let mut names = Names::new(dwarf);
        for (index, unit) in dwarf.units().iter().enumerate() {
            let language = SourceUnit::new(dwarf, unit).language;
            let mut functions: Vec<(isize, UnitOffset)> = Vec::new();
            visit(unit, &[gimli::DW_TAG_variable, gimli::DW_TAG_subprogram], &mut |die| {
                // They stand one within another: the deepest is the last.
                functions.truncate(functions.partition_point(|(depth, _)| *depth < die.depth));
                if die.tag == gimli::DW_TAG_subprogram {
                    functions.push((die.depth, die.offset));
                } else if let Some(address) = fixed_address(dwarf, die) {
                    let function = functions.last().and_then(|(_, offset)| names.at(unit, *offset, 8));
                    let name = names.of(die).map(|name| qualified(language, function.as_deref(), &name));
                    all.extend(name.map(|name| variable(dwarf, index, die, address, name)));
                }
            });
        }
        all.sort_by_key(|variable| (variable.address, std::cmp::Reverse(variable.size)));
        all.dedup_by_key(|variable| variable.address);
        Self(all)
    }

    /// The words for an address: the variable, then the way into it.
    pub(crate) fn at(&self, dwarf: &Dwarf, address: u64) -> Option<String> {
        let (variable, offset) = self.holding(address)?;
        let within = match variable.kind {
            Some((unit, entry)) => types::path(dwarf, &dwarf.units()[unit], entry, offset),
            None if offset > 0 => format!("+{offset:#x}"),
            None => String::new(),
        };
        Some(format!("{}{within}", variable.name))
    }

    /// Whether the variable, or the part of it, at an address is atomic; `None` if no variable is known there.
    pub(crate) fn is_atomic(&self, dwarf: &Dwarf, address: u64) -> Option<bool> {
        let (variable, offset) = self.holding(address)?;
        let (unit, entry) = variable.kind?;
        Some(types::is_atomic(dwarf, &dwarf.units()[unit], entry, offset))
    }

    /// The variable that an address is in, and where in it.
    fn holding(&self, address: u64) -> Option<(&StaticVariable, u64)> {
        let after = self.0.partition_point(|variable| variable.address <= address);
        let variable = self.0.get(after.checked_sub(1)?)?;
        let offset = address - variable.address;
        (offset < variable.size.max(1)).then_some((variable, offset))
    }
}

fn variable(dwarf: &Dwarf, unit: usize, die: &DieView<'_>, address: u64, name: Arc<str>) -> StaticVariable {
    let units = dwarf.units();
    let kind = kind_of(dwarf, die).and_then(|(owner, entry)| {
        let index = if std::ptr::eq(owner, die.unit) {
            unit
        } else {
            units.iter().position(|u| std::ptr::eq(u, owner))?
        };
        Some((index, entry))
    });
    let size = kind.and_then(|(unit, entry)| types::size(dwarf, &units[unit], entry)).unwrap_or_default();
    StaticVariable { address, size, name, kind }
}

/// The variable's type, which a definition may leave to its declaration.
fn kind_of<'a>(dwarf: &'a Dwarf, die: &DieView<'a>) -> Option<(&'a Unit, UnitOffset)> {
    if let Some(kind) = die.value(gimli::DW_AT_type) {
        return target(dwarf, die.unit, kind);
    }
    let declared =
        die.value(gimli::DW_AT_specification).or_else(|| die.value(gimli::DW_AT_abstract_origin))?;
    let (unit, offset) = target(dwarf, die.unit, declared)?;
    let entry = unit.entry(offset).ok()?;
    target(dwarf, unit, entry.attr_value(gimli::DW_AT_type)?)
}

/// The address of a variable whose location is an address and nothing else: thread-locals and locals have more to say.
fn fixed_address(dwarf: &Dwarf, die: &DieView<'_>) -> Option<u64> {
    let AttributeValue::Exprloc(expression) = die.value(gimli::DW_AT_location)? else { return None };
    let mut operations = expression.operations(die.unit.encoding());
    let first: Operation<Reader> = operations.next().ok()??;
    let address = match first {
        Operation::Address { address } => address,
        Operation::AddressIndex { index } => dwarf.sections().address(die.unit, index).ok()?,
        _ => return None,
    };
    (operations.next().ok()?.is_none() && address != 0).then_some(address)
}

/// A static of a C function gets the function's name in front; the crate's own name says nothing to a Rust programmer.
fn qualified(language: Language, function: Option<&str>, name: &str) -> Arc<str> {
    match function {
        Some(function) if !name.contains("::") => Arc::from(format!("{function}::{name}")),
        _ if language == Language::Rust => Arc::from(without_crate(name)),
        _ => Arc::from(name),
    }
}
