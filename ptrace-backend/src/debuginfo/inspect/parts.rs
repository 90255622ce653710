//! The members, alternatives and arguments of structures, classes, unions and Rust enums.

use gimli::{AttributeValue, Expression, Operation, UnitOffset};

use super::index::{Die, Info, Ref};
use super::shape::{
    Argument, Bits, Composite, Form, Keyword, Member, Start, Variant, Variants, children, constant, number,
};
use crate::debuginfo::dwarf::{Reader, Unit};

pub(super) fn read_parts(info: Info<'_>, kind: Ref, die: &Die, keyword: Keyword) -> Form {
    let mut parts = Composite {
        keyword,
        is_declaration: flag(die, gimli::DW_AT_declaration),
        members: Vec::new(),
        variants: None,
        arguments: Vec::new(),
    };
    let mut alternatives = None;
    children(info, kind, &mut |unit, child| match child.tag() {
        // Static members are variables that live elsewhere.
        gimli::DW_TAG_member | gimli::DW_TAG_inheritance if !is_static(child) => {
            parts.members.extend(member(info, unit, child));
        }
        gimli::DW_TAG_template_type_parameter | gimli::DW_TAG_template_value_parameter => {
            parts.arguments.push(argument(info, unit, child));
        }
        // The arguments of a parameter pack.
        gimli::DW_TAG_GNU_template_parameter_pack => {
            children(info, Ref { unit, offset: child.offset() }, &mut |unit, child| {
                parts.arguments.push(argument(info, unit, child));
            });
        }
        gimli::DW_TAG_variant_part => alternatives = Some((unit, child.clone())),
        _ => {}
    });
    parts.variants = alternatives.map(|(unit, part)| variants(info, unit, &part));
    Form::Composite(parts)
}

fn argument(info: Info<'_>, unit: usize, die: &Die) -> Argument {
    Argument {
        name: die.attr_value(gimli::DW_AT_name).and_then(|value| info.text(unit, value)),
        kind: die.attr_value(gimli::DW_AT_type).and_then(|value| info.target(unit, value)),
    }
}

fn member(info: Info<'_>, unit: usize, die: &Die) -> Option<Member> {
    let kind = die.attr_value(gimli::DW_AT_type).and_then(|value| info.target(unit, value));
    let (start, bits) = place(info, unit, die, kind)?;
    Some(Member {
        name: die.attr_value(gimli::DW_AT_name).and_then(|value| info.text(unit, value)),
        kind,
        start,
        bits,
        is_base: die.tag() == gimli::DW_TAG_inheritance,
        is_artificial: flag(die, gimli::DW_AT_artificial),
    })
}

/// Where a member is. Bit-fields are counted from the lowest bit of their first byte.
fn place(info: Info<'_>, unit: usize, die: &Die, kind: Option<Ref>) -> Option<(Start, Option<Bits>)> {
    let unsigned = |name| number(die, name).and_then(|value| u64::try_from(value).ok());
    let bytes = match die.attr_value(gimli::DW_AT_data_member_location) {
        None => Start::At(0),
        Some(AttributeValue::Exprloc(expression)) => computed(info.dwarf.units().get(unit)?, expression),
        Some(value) => {
            constant(value).and_then(|at| u64::try_from(at).ok()).map_or(Start::Unknown, Start::At)
        }
    };
    let Some(size) = unsigned(gimli::DW_AT_bit_size) else { return Some((bytes, None)) };
    if let Some(start) = unsigned(gimli::DW_AT_data_bit_offset) {
        return Some((Start::At(start / 8), Some(Bits { start: start % 8, size })));
    }
    // Before DWARF 4 bits were counted from the highest of the storage unit.
    let Some(from_top) = unsigned(gimli::DW_AT_bit_offset) else {
        return Some((bytes, Some(Bits { start: 0, size })));
    };
    let declared = kind.and_then(|kind| number(&info.die(kind)?, gimli::DW_AT_byte_size));
    let storage = unsigned(gimli::DW_AT_byte_size).or_else(|| u64::try_from(declared?).ok())?;
    let start = storage.checked_mul(8)?.checked_sub(from_top)?.checked_sub(size)?;
    Some((bytes, Some(Bits { start, size })))
}

/// Most expressions just add a constant.
fn computed(unit: &Unit, expression: Expression<Reader>) -> Start {
    let mut operations = expression.operations(unit.encoding());
    match (operations.next(), operations.next()) {
        (Ok(Some(Operation::PlusConstant { value })), Ok(None)) => Start::At(value),
        _ => Start::Computed(expression),
    }
}

fn variants(info: Info<'_>, unit: usize, part: &Die) -> Variants {
    let here = Ref { unit, offset: part.offset() };
    let wanted = match part.attr_value(gimli::DW_AT_discr) {
        Some(AttributeValue::UnitRef(offset)) => Some(offset),
        _ => None,
    };
    let discriminant = wanted
        .and_then(|offset: UnitOffset| info.die(Ref { unit, offset }))
        .and_then(|die| member(info, unit, &die));
    let mut all = Vec::new();
    let mut is_complete = true;
    children(info, here, &mut |unit, child| {
        if child.tag() != gimli::DW_TAG_variant {
            return;
        }
        if child.attr_value(gimli::DW_AT_discr_list).is_some() {
            is_complete = false;
            return;
        }
        let value = child.attr_value_raw(gimli::DW_AT_discr_value).and_then(constant);
        children(info, Ref { unit, offset: child.offset() }, &mut |unit, inner| {
            if inner.tag() == gimli::DW_TAG_member {
                all.extend(member(info, unit, inner).map(|member| Variant { value, member }));
            }
        });
    });
    Variants { discriminant, all, is_complete }
}

fn is_static(member: &Die) -> bool {
    flag(member, gimli::DW_AT_external) || flag(member, gimli::DW_AT_declaration)
}

fn flag(die: &Die, name: gimli::DwAt) -> bool {
    matches!(die.attr_value(name), Some(AttributeValue::Flag(true)))
}
