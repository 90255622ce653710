//! Views of values as their user thinks of them: a number, a text, a list, parts with names.

use super::traversal::Traversal;
use crate::debuginfo::dwarf::missing::Missing;
use crate::debuginfo::inspect::values::text::Text;
use crate::debuginfo::inspect::values::typed::{Elements, TypedValue};

/// A value as its user thinks of it.
pub(crate) enum View {
    /// Words that say everything.
    Leaf(String),
    Missing(Missing),
    /// Something whose meaning is not known.
    Bytes,
    Pointer(Pointer),
    Text(Text),
    List(List),
    Fields(Fields),
    /// Another value, of which this one is just a wrapper.
    Same(Box<TypedValue>),
}

pub(crate) struct Pointer {
    /// None where the compiler did away with the pointer but not with its target.
    pub(crate) address: Option<u64>,
    /// Its target, if that can be shown.
    pub(crate) target: Option<TypedValue>,
    /// The words behind the arrow instead of the target: a text, a function.
    pub(crate) note: Option<String>,
    /// Further facts that a smart pointer knows.
    pub(crate) facts: Vec<Field>,
}

pub(crate) struct List {
    pub(crate) items: Items,
    /// Whether the length is part of the value and not of the type.
    pub(crate) is_dynamic: bool,
}

/// The values in a list.
pub(crate) enum Items {
    Elements(Elements),
    /// Elements that wrap around at the end of the slots.
    Ring {
        slots: Elements,
        head: u64,
        count: u64,
    },
    /// Bits, counted from the lowest at an address.
    Bits {
        address: u64,
        first: u64,
        count: u64,
    },
    /// Blocks of elements, from a table of their addresses.
    Blocks {
        table: u64,
        per_block: u64,
        first: u64,
        count: u64,
        element: TypedValue,
        stride: u64,
    },
    Traversal(Traversal),
}

pub(crate) struct Fields {
    /// The type or the alternative; empty where it has no name.
    pub(crate) name: String,
    pub(crate) style: Style,
    pub(crate) fields: Vec<Field>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// `Point { x: 1, y: 2 }`
    Braces,
    /// `Some(1)`
    Brackets,
    /// `None`
    Nothing,
}

/// A part of a value, with its name.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) shown: Shown,
    pub(crate) access: MemberAccess,
}

/// The access of a part of a whole in an expression.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum MemberAccess {
    /// By the part's name.
    Named,
    /// Not at all: the part's own parts are named as if they were the whole's (a base class, a member without a name).
    Through,
    /// No expression does.
    Never,
}

/// A value that is in the program, or words about it.
#[derive(Clone, Debug)]
pub(crate) enum Shown {
    Value(TypedValue),
    Words { type_name: String, words: String },
}

impl Field {
    pub(crate) fn value(name: impl Into<String>, value: TypedValue) -> Self {
        Self { name: name.into(), shown: Shown::Value(value), access: MemberAccess::Named }
    }

    pub(crate) fn unreachable(self) -> Self {
        Self { access: MemberAccess::Never, ..self }
    }

    pub(crate) fn words(name: &str, type_name: &str, words: impl Into<String>) -> Self {
        Self {
            name: name.to_owned(),
            shown: Shown::Words { type_name: type_name.to_owned(), words: words.into() },
            access: MemberAccess::Named,
        }
    }
}

impl Items {
    pub(crate) fn count(&self) -> u64 {
        match self {
            Self::Elements(elements) => elements.count.unwrap_or_default(),
            Self::Ring { count, .. } | Self::Bits { count, .. } | Self::Blocks { count, .. } => *count,
            Self::Traversal(traversal) => traversal.count,
        }
    }
}
