//! Entries of calls: they tell the values of registers when the called function was entered.

use gimli::{AttributeValue, Expression, Operation};

use crate::debuginfo::dwarf::reader::{Die, Reader};
use crate::debuginfo::entries::entry::Ref;
use crate::debuginfo::entries::info::{Info, children};

/// The register that an expression is about, if it is about nothing else.
pub(super) fn only_register(expression: Expression<Reader>, encoding: gimli::Encoding) -> Option<u16> {
    let mut operations = expression.operations(encoding);
    let register = match operations.next().ok()?? {
        Operation::Register { register } | Operation::RegisterOffset { register, offset: 0, .. } => register,
        _ => return None,
    };
    operations.next().ok()?.is_none().then_some(register.0)
}

/// The entry of the call that returns to a static address.
pub(super) fn call_site(info: Info<'_>, function: Ref, returns_to: u64) -> Option<Ref> {
    let unit = info.unit(function)?;
    let mut entries = unit.entries_at_offset(function.offset).ok()?;
    let own = entries.next_dfs().ok()??.depth();
    while let Some(die) = entries.next_dfs().ok()? {
        if die.depth() <= own {
            break;
        }
        let attribute = match die.tag() {
            gimli::DW_TAG_call_site => gimli::DW_AT_call_return_pc,
            gimli::DW_TAG_GNU_call_site => gimli::DW_AT_low_pc,
            _ => continue,
        };
        let address = die
            .attr_value(attribute)
            .and_then(|value| info.dwarf.sections().attr_address(unit, value).ok().flatten());
        if address == Some(returns_to) {
            return Some(Ref { unit: function.unit, offset: die.offset() });
        }
    }
    None
}

/// The expression for a register's value at the call.
pub(super) fn value_of(
    info: Info<'_>,
    site: Ref,
    register: u16,
    encoding: gimli::Encoding,
) -> Option<Expression<Reader>> {
    let mut found = None;
    children(info, site, &mut |_, die| {
        let is_parameter =
            matches!(die.tag(), gimli::DW_TAG_call_site_parameter | gimli::DW_TAG_GNU_call_site_parameter);
        let Some(AttributeValue::Exprloc(place)) =
            die.attr_value(gimli::DW_AT_location).filter(|_| is_parameter)
        else {
            return;
        };
        if only_register(place, encoding) == Some(register) {
            let value = first_of(die, &[gimli::DW_AT_call_value, gimli::DW_AT_GNU_call_site_value]);
            found = value.and_then(|value| value.exprloc_value());
        }
    });
    found
}

pub(super) fn first_of(die: &Die, names: &[gimli::DwAt]) -> Option<AttributeValue<Reader>> {
    names.iter().find_map(|&name| die.attr_value(name))
}
