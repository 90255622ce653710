//! What types are made of: their entries in the debug information, read once into plain data.

use gimli::{AttributeValue, DwAt, DwAte, Expression};

use super::index::{Die, Info, Ref};
use super::parts::read_parts;
use crate::debuginfo::dwarf::Reader;

/// A type.
#[derive(Debug)]
pub(super) struct Shape {
    /// As the compiler has it, without namespaces.
    pub(super) name: Option<String>,
    /// In bytes.
    pub(super) size: Option<u64>,
    pub(super) form: Form,
}

/// The kinds of types.
#[derive(Debug)]
pub(super) enum Form {
    Base(DwAte),
    Pointer {
        to: Option<Ref>,
        sort: PointerSort,
    },
    /// Another name for a type, or a qualified one.
    Alias {
        of: Option<Ref>,
        qualifier: Option<&'static str>,
    },
    Composite(Composite),
    Enumeration {
        underlying: Option<Ref>,
        is_signed: bool,
        enumerators: Vec<(String, i128)>,
    },
    Array {
        element: Option<Ref>,
        bounds: Vec<Bound>,
    },
    /// A member of a class, as data or as a function.
    MemberPointer {
        to: Option<Ref>,
        class: Option<Ref>,
    },
    Function {
        result: Option<Ref>,
        parameters: Vec<Option<Ref>>,
    },
    /// `void`, `decltype(nullptr)`, or what has a name and nothing else.
    Unspecified,
    /// Something that is not understood.
    Unknown,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum PointerSort {
    Pointer,
    Reference,
    RvalueReference,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Keyword {
    Struct,
    Class,
    Union,
}

/// A structure, class, union, or Rust enum.
#[derive(Debug)]
pub(super) struct Composite {
    pub(super) keyword: Keyword,
    pub(super) is_declaration: bool,
    pub(super) members: Vec<Member>,
    pub(super) variants: Option<Variants>,
    /// Template or generic arguments.
    pub(super) arguments: Vec<Argument>,
}

#[derive(Debug)]
pub(super) struct Argument {
    pub(super) name: Option<String>,
    pub(super) kind: Option<Ref>,
}

/// Data within a composite.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) name: Option<String>,
    pub(super) kind: Option<Ref>,
    pub(super) start: Start,
    pub(super) bits: Option<Bits>,
    pub(super) is_base: bool,
    pub(super) is_artificial: bool,
}

/// Where a member begins.
#[derive(Debug)]
pub(super) enum Start {
    /// So many bytes into the object.
    At(u64),
    /// Where an expression says that is given the object's address: a virtual base.
    Computed(Expression<Reader>),
    Unknown,
}

/// The bits of a bit-field, counted from the member's start, lowest first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Bits {
    pub(super) start: u64,
    pub(super) size: u64,
}

/// The alternatives of a Rust enum.
#[derive(Debug)]
pub(super) struct Variants {
    pub(super) discriminant: Option<Member>,
    pub(super) all: Vec<Variant>,
    /// Whether every alternative could be read: if not, none may be taken for the one that has all other values.
    pub(super) is_complete: bool,
}

#[derive(Debug)]
pub(super) struct Variant {
    /// The discriminant's value; none for the alternative that has all other values.
    pub(super) value: Option<i128>,
    pub(super) member: Member,
}

/// The elements of one dimension of an array.
#[derive(Debug)]
pub(super) enum Bound {
    Fixed(u64),
    /// The entry of the variable that holds the last index.
    LastIn(Ref),
    /// Computes the last index.
    Last(Expression<Reader>),
    Unknown,
}

/// Reads the entry of a type; never reads another type's.
pub(super) fn read_shape(info: Info<'_>, kind: Ref) -> Shape {
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

/// Shows the entries directly below one.
pub(super) fn children(info: Info<'_>, parent: Ref, see: &mut dyn FnMut(usize, &Die)) {
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

/// A constant, as signed or unsigned as its form says.
pub(super) fn number(die: &Die, name: DwAt) -> Option<i128> {
    constant(die.attr_value_raw(name)?)
}

pub(super) fn constant(value: AttributeValue<Reader>) -> Option<i128> {
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
