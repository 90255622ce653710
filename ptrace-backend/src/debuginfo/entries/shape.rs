//! Types as plain data.

use gimli::{DwAte, Expression};

use super::entry::Ref;
use crate::debuginfo::dwarf::reader::Reader;

/// A type.
#[derive(Debug)]
pub(crate) struct Shape {
    /// As the compiler has it, without namespaces.
    pub(crate) name: Option<String>,
    /// In bytes.
    pub(crate) size: Option<u64>,
    pub(crate) form: Form,
}

/// The kinds of types.
#[derive(Debug)]
pub(crate) enum Form {
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
pub(crate) enum PointerSort {
    Pointer,
    Reference,
    RvalueReference,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Keyword {
    Struct,
    Class,
    Union,
}

/// A structure, class, union, or Rust enum.
#[derive(Debug)]
pub(crate) struct Composite {
    pub(crate) keyword: Keyword,
    pub(crate) is_declaration: bool,
    pub(crate) members: Vec<Member>,
    pub(crate) variants: Option<Variants>,
    /// Template or generic arguments.
    pub(crate) arguments: Vec<Argument>,
}

#[derive(Debug)]
pub(crate) struct Argument {
    pub(crate) name: Option<String>,
    pub(crate) kind: Option<Ref>,
}

/// Data within a composite.
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) name: Option<String>,
    pub(crate) kind: Option<Ref>,
    pub(crate) start: Start,
    pub(crate) bits: Option<Bits>,
    pub(crate) is_base: bool,
    pub(crate) is_artificial: bool,
}

/// The beginning of a member.
#[derive(Debug)]
pub(crate) enum Start {
    /// So many bytes into the object.
    At(u64),
    /// At the result of an expression that is given the object's address: a virtual base.
    Computed(Expression<Reader>),
    Unknown,
}

/// The bits of a bit-field, counted from the member's start, lowest first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Bits {
    pub(crate) start: u64,
    pub(crate) size: u64,
}

/// The alternatives of a Rust enum.
#[derive(Debug)]
pub(crate) struct Variants {
    pub(crate) discriminant: Option<Member>,
    pub(crate) all: Vec<Variant>,
    /// Whether every alternative could be read: if not, none may be taken for the one that has all other values.
    pub(crate) is_complete: bool,
}

#[derive(Debug)]
pub(crate) struct Variant {
    /// The discriminant's value; none for the alternative that has all other values.
    pub(crate) value: Option<i128>,
    pub(crate) member: Member,
}

/// The elements of one dimension of an array.
#[derive(Debug)]
pub(crate) enum Bound {
    Fixed(u64),
    /// The entry of the variable that holds the last index.
    LastIn(Ref),
    /// Computes the last index.
    Last(Expression<Reader>),
    Unknown,
}
