//! Types of the standard libraries as their users think of them.
//!
//! They are recognised by the names of types and members alone; where a member is missing or of another kind than
//! expected, the value is shown by its members like any other.

mod cpp;
mod posix;
mod rust;

pub(super) use rust::method_tables;

use super::contents::Contents;
use super::index::Ref;
use super::shape::{Composite, Form, Shape};
use super::thread::Thread;
use super::typed::{Elements, Typed};
use super::view::{Items, List, View};
use crate::debuginfo::expression::Missing;
use crate::debuginfo::lines::Language;

/// How many wrappers are looked through.
const MOST_WRAPPERS: usize = 12;

/// Why a library's type is not shown as such.
pub(super) enum Unlike {
    /// It is made of something else than expected.
    Layout,
    /// What it is made of is not known.
    Missing(Missing),
}

impl From<Missing> for Unlike {
    fn from(missing: Missing) -> Self {
        Self::Missing(missing)
    }
}

pub(super) type Seen<T = View> = Result<T, Unlike>;

/// A value of a library's type.
#[derive(Clone, Copy)]
struct Subject<'a> {
    value: &'a Typed,
    shape: &'a Shape,
    parts: &'a Composite,
    /// The type's name with namespaces, without arguments.
    family: &'a str,
}

impl Thread<'_> {
    /// How to show a value if its type is a library's.
    pub(super) fn library_view(
        &self,
        value: &Typed,
        kind: Ref,
        shape: &Shape,
        parts: &Composite,
    ) -> Option<View> {
        if value.is_raw || parts.is_declaration {
            return None;
        }
        // The C library's types are known by other names only.
        let family = self.family(value.module, kind).unwrap_or_default();
        let subject = Subject { value, shape, parts, family: &family };
        let seen = match self.language(value) {
            Language::Rust => self.rust_view(subject),
            Language::Cpp => self.cpp_view(subject),
            _ => self.posix_view(subject),
        };
        match seen {
            Ok(view) => Some(view),
            Err(Unlike::Missing(missing)) => Some(View::Missing(missing)),
            Err(Unlike::Layout) => None,
        }
    }

    /// The member at the end of a path of names.
    fn member_at(&self, whole: &Typed, path: &[&str]) -> Seen<Typed> {
        path.iter().try_fold(whole.clone(), |here, name| self.field(&here, name)).ok_or(Unlike::Layout)
    }

    /// The number that is all there is to a value, through structures with one member that has bytes.
    fn number_in(&self, value: &Typed) -> Seen<i128> {
        let mut here = value.clone();
        for _ in 0..MOST_WRAPPERS {
            let shape = self.shape(&here).ok_or(Unlike::Layout)?;
            match &shape.form {
                Form::Base(_) | Form::Enumeration { .. } | Form::Pointer { .. } => {
                    return Ok(self.integer(&here)?);
                }
                Form::Composite(parts) => here = self.only_part(&here, parts)?,
                _ => break,
            }
        }
        Err(Unlike::Layout)
    }

    /// The only member that has bytes.
    fn only_part(&self, whole: &Typed, parts: &Composite) -> Seen<Typed> {
        let all = parts.members.iter().map(|member| self.part(whole, member));
        let mut with_bytes = all.filter(|part| self.size(part) != Some(0));
        match (with_bytes.next(), with_bytes.next()) {
            (Some(only), None) => Ok(only),
            _ => Err(Unlike::Layout),
        }
    }

    fn unsigned_at(&self, whole: &Typed, path: &[&str]) -> Seen<u64> {
        u64::try_from(self.number_in(&self.member_at(whole, path)?)?).map_err(|_| Unlike::Layout)
    }

    /// Values of one type in memory; lengths that no memory could hold are no lengths.
    fn elements_at(&self, like: &Typed, element: Option<Ref>, address: u64, count: u64) -> Seen<Elements> {
        let first = like.with(Some(element.ok_or(Unlike::Layout)?), Contents::Memory(address));
        let stride = self.size(&first).ok_or(Unlike::Layout)?;
        let size = stride.checked_mul(count).ok_or(Unlike::Layout)?;
        let is_possible = size < 1 << 47 && (size == 0 || address != 0);
        if is_possible { Ok(Elements { first, stride, count: Some(count) }) } else { Err(Unlike::Layout) }
    }
}

fn list_of(elements: Elements) -> View {
    View::List(List { items: Items::Elements(elements), is_dynamic: true })
}
