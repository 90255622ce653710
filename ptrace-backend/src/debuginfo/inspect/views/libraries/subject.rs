//! A value of a library's type, and what its parts say.

use crate::debuginfo::dwarf::missing::Missing;
use crate::debuginfo::entries::entry::Ref;
use crate::debuginfo::entries::shape::{Composite, Form, Shape};
use crate::debuginfo::inspect::stopped::thread::StoppedThread;
use crate::debuginfo::inspect::stopped::value_location::ValueLocation;
use crate::debuginfo::inspect::values::typed::{Elements, TypedValue};
use crate::debuginfo::inspect::views::view::{Field, Items, List, View};

/// Number of wrappers that are looked through.
const MOST_WRAPPERS: usize = 12;

/// A reason for which a library's type is not shown as such.
pub(super) enum UnrecognisedType {
    /// It is made of something else than expected.
    Layout,
    /// Its parts are not known.
    Missing(Missing),
}

impl From<Missing> for UnrecognisedType {
    fn from(missing: Missing) -> Self {
        Self::Missing(missing)
    }
}

pub(super) type ViewResult<T = View> = Result<T, UnrecognisedType>;

/// A value of a library's type.
#[derive(Clone, Copy)]
pub(super) struct Subject<'a> {
    pub(super) value: &'a TypedValue,
    pub(super) shape: &'a Shape,
    pub(super) parts: &'a Composite,
    /// The type's name with namespaces, without arguments.
    pub(super) family: &'a str,
}

/// The view of a value whose library type was recognised.
pub(crate) enum Recognised {
    View(Box<View>),
    /// As the plain pointer that it has, with the further facts that a smart one knows.
    Pointing(TypedValue, Vec<Field>),
}

impl From<View> for Recognised {
    fn from(view: View) -> Self {
        Self::View(Box::new(view))
    }
}

/// The member at the end of a path of names.
pub(super) fn member_at(
    thread: &StoppedThread<'_>,
    whole: &TypedValue,
    path: &[&str],
) -> ViewResult<TypedValue> {
    path.iter()
        .try_fold(whole.clone(), |here, name| thread.field(&here, name))
        .ok_or(UnrecognisedType::Layout)
}

/// The number that is all there is to a value, through structures with one member that has bytes.
pub(super) fn number_in(thread: &StoppedThread<'_>, value: &TypedValue) -> ViewResult<i128> {
    let mut here = value.clone();
    for _ in 0..MOST_WRAPPERS {
        let shape = thread.shape(&here).ok_or(UnrecognisedType::Layout)?;
        match &shape.form {
            Form::Base(_) | Form::Enumeration { .. } | Form::Pointer { .. } => {
                return Ok(thread.integer(&here)?);
            }
            Form::Composite(parts) => here = only_part(thread, &here, parts)?,
            _ => break,
        }
    }
    Err(UnrecognisedType::Layout)
}

/// The only member that has bytes.
fn only_part(thread: &StoppedThread<'_>, whole: &TypedValue, parts: &Composite) -> ViewResult<TypedValue> {
    let all = parts.members.iter().map(|member| thread.part(whole, member));
    let mut with_bytes = all.filter(|part| thread.size(part) != Some(0));
    match (with_bytes.next(), with_bytes.next()) {
        (Some(only), None) => Ok(only),
        _ => Err(UnrecognisedType::Layout),
    }
}

/// The same as a number that is not negative, at the end of a path of names.
pub(super) fn unsigned_at(thread: &StoppedThread<'_>, whole: &TypedValue, path: &[&str]) -> ViewResult<u64> {
    u64::try_from(number_in(thread, &member_at(thread, whole, path)?)?).map_err(|_| UnrecognisedType::Layout)
}

/// Values of one type in memory; lengths that no memory could hold are no lengths.
pub(super) fn elements_at(
    thread: &StoppedThread<'_>,
    like: &TypedValue,
    element: Option<Ref>,
    address: u64,
    count: u64,
) -> ViewResult<Elements> {
    let first = like.with(Some(element.ok_or(UnrecognisedType::Layout)?), ValueLocation::Memory(address));
    let stride = thread.size(&first).ok_or(UnrecognisedType::Layout)?;
    let size = stride.checked_mul(count).ok_or(UnrecognisedType::Layout)?;
    let is_possible = size < 1 << 47 && (size == 0 || address != 0);
    if is_possible {
        Ok(Elements { first, stride, count: Some(count) })
    } else {
        Err(UnrecognisedType::Layout)
    }
}

/// The view of a list of these elements.
pub(super) fn list_of(elements: Elements) -> View {
    View::List(List { items: Items::Elements(elements), is_dynamic: true })
}
