//! Shapes of types: their entries in the debug information, read once into plain data.

use std::collections::hash_map::Entry;
use std::sync::{Arc, PoisonError};

use gimli::{AttributeValue, DwAt, Expression, Operation, UnitOffset};

use super::entry::Ref;
use super::info::{Info, children};
use super::names::last_segment;
use super::shape::{
    Argument, Bits, Bound, Composite, Form, Keyword, Member, PointerSort, Shape, Start, Variant, Variants,
};
use crate::debuginfo::dwarf::reader::{Die, Reader, Unit};

impl Info<'_> {
    /// The shape of a type.
    pub(crate) fn shape(self, kind: Ref) -> Arc<Shape> {
        let mut shapes = self.index.shapes.lock().unwrap_or_else(PoisonError::into_inner);
        match shapes.entry(kind) {
            Entry::Occupied(known) => Arc::clone(known.get()),
            Entry::Vacant(new) => Arc::clone(new.insert(Arc::new(read_shape(self, kind)))),
        }
    }

    /// The instance of a template whose first argument is a type.
    pub(crate) fn instance(self, unit: usize, family: &str, argument: Ref) -> Option<Ref> {
        let name = last_segment(family);
        self.types_named(unit, name).find(|&entry| {
            let shape = self.shape(entry);
            let Form::Composite(parts) = &shape.form else { return false };
            parts.arguments.first().is_some_and(|first| first.kind == Some(argument))
                && self.qualified(entry, name) == family
        })
    }
}

/// Reads the entry of a type; never reads another type's.
fn read_shape(info: Info<'_>, kind: Ref) -> Shape {
    let Some(die) = info.die(kind) else { return Shape { name: None, size: None, form: Form::Unknown } };
    let name = die.attr_value(gimli::DW_AT_name).and_then(|value| info.text(kind.unit, value));
    let size = number(&die, gimli::DW_AT_byte_size).and_then(|size| u64::try_from(size).ok());
    Shape { name, size, form: form(info, kind, &die) }
}

fn form(info: Info<'_>, kind: Ref, die: &Die) -> Form {
    let to = die.attr_value(gimli::DW_AT_type).and_then(|value| info.target(kind.unit, value));
    let alias = |qualifier| Form::Alias { of: to, qualifier };
    match die.tag() {
        gimli::DW_TAG_base_type => match die.attr_value(gimli::DW_AT_encoding) {
            Some(AttributeValue::Encoding(encoding)) => Form::Base(encoding),
            _ => Form::Unknown,
        },
        gimli::DW_TAG_pointer_type => Form::Pointer { to, sort: PointerSort::Pointer },
        gimli::DW_TAG_reference_type => Form::Pointer { to, sort: PointerSort::Reference },
        gimli::DW_TAG_rvalue_reference_type => Form::Pointer { to, sort: PointerSort::RvalueReference },
        gimli::DW_TAG_typedef | gimli::DW_TAG_template_alias => alias(None),
        gimli::DW_TAG_const_type => alias(Some("const")),
        gimli::DW_TAG_volatile_type => alias(Some("volatile")),
        gimli::DW_TAG_restrict_type => alias(Some("restrict")),
        gimli::DW_TAG_atomic_type => alias(Some("_Atomic")),
        gimli::DW_TAG_ptr_to_member_type => {
            let class = die.attr_value(gimli::DW_AT_containing_type);
            Form::MemberPointer { to, class: class.and_then(|value| info.target(kind.unit, value)) }
        }
        gimli::DW_TAG_enumeration_type => enumeration(info, kind, to),
        gimli::DW_TAG_array_type => array(info, kind, to),
        gimli::DW_TAG_subroutine_type => function(info, kind, to),
        gimli::DW_TAG_unspecified_type => Form::Unspecified,
        gimli::DW_TAG_structure_type => read_parts(info, kind, die, Keyword::Struct),
        gimli::DW_TAG_class_type => read_parts(info, kind, die, Keyword::Class),
        gimli::DW_TAG_union_type => read_parts(info, kind, die, Keyword::Union),
        _ => Form::Unknown,
    }
}

fn enumeration(info: Info<'_>, kind: Ref, underlying: Option<Ref>) -> Form {
    let base = underlying.and_then(|underlying| info.die(underlying));
    let encoding = base.and_then(|base| base.attr_value(gimli::DW_AT_encoding));
    let mut is_signed =
        matches!(encoding, Some(AttributeValue::Encoding(gimli::DW_ATE_signed | gimli::DW_ATE_signed_char)));
    let mut enumerators = Vec::new();
    children(info, kind, &mut |unit, child| {
        if child.tag() == gimli::DW_TAG_enumerator
            && let Some(name) = child.attr_value(gimli::DW_AT_name)
            && let Some(name) = info.text(unit, name)
            && let Some(value) = number(child, gimli::DW_AT_const_value)
        {
            is_signed |= value < 0;
            enumerators.push((name, value));
        }
    });
    Form::Enumeration { underlying, is_signed, enumerators }
}

fn array(info: Info<'_>, kind: Ref, element: Option<Ref>) -> Form {
    let mut bounds = Vec::new();
    children(info, kind, &mut |unit, child| {
        if child.tag() != gimli::DW_TAG_subrange_type {
            return;
        }
        let count = number(child, gimli::DW_AT_count).and_then(|count| u64::try_from(count).ok());
        let lower = number(child, gimli::DW_AT_lower_bound).unwrap_or_default();
        let last = number(child, gimli::DW_AT_upper_bound);
        // An array without elements has -1 for its last index, in as many bits as the compiler liked.
        let fixed = count.or_else(|| {
            let last = last?;
            let none = [-1, i128::from(u32::MAX), i128::from(u64::MAX)].contains(&last) && lower == 0;
            u64::try_from(if none { 0 } else { last - lower + 1 }).ok()
        });
        bounds.push(match (fixed, child.attr_value(gimli::DW_AT_upper_bound)) {
            (Some(count), _) => Bound::Fixed(count),
            (None, Some(AttributeValue::Exprloc(expression))) => Bound::Last(expression),
            (None, Some(value)) => info.target(unit, value).map_or(Bound::Unknown, Bound::LastIn),
            (None, None) => Bound::Unknown,
        });
    });
    Form::Array { element, bounds }
}

fn function(info: Info<'_>, kind: Ref, result: Option<Ref>) -> Form {
    let mut parameters = Vec::new();
    children(info, kind, &mut |unit, child| {
        if child.tag() == gimli::DW_TAG_formal_parameter {
            let value = child.attr_value(gimli::DW_AT_type);
            parameters.push(value.and_then(|value| info.target(unit, value)));
        }
    });
    Form::Function { result, parameters }
}

/// The members, alternatives and arguments of structures, classes, unions and Rust enums.
fn read_parts(info: Info<'_>, kind: Ref, die: &Die, keyword: Keyword) -> Form {
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

/// The place of a member. Bit-fields are counted from the lowest bit of their first byte.
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

/// A constant, as signed or unsigned as its form says.
fn number(die: &Die, name: DwAt) -> Option<i128> {
    constant(die.attr_value_raw(name)?)
}

fn constant(value: AttributeValue<Reader>) -> Option<i128> {
    match value {
        AttributeValue::Sdata(value) => Some(value.into()),
        AttributeValue::Block(bytes) if (1..=16).contains(&bytes.len()) => {
            let mut word = [0; 16];
            word[..bytes.len()].copy_from_slice(bytes.slice());
            Some(i128::from_le_bytes(word))
        }
        other => other.udata_value().map(i128::from),
    }
}
