//! Types of the standard libraries as their users think of them.
//!
//! They are recognised by the names of types and members alone; where a member is missing or of another kind than
//! expected, the value is shown by its members like any other.

mod cpp;
mod posix;
mod rust;
pub(crate) mod subject;

use cpp::cpp_view;
use posix::posix_view;
use rust::rust_view;
use subject::{Recognised, Subject, UnrecognisedType};

use super::view::View;
use crate::debuginfo::dwarf::source_unit::Language;
use crate::debuginfo::entries::entry::Ref;
use crate::debuginfo::entries::shape::{Composite, Shape};
use crate::debuginfo::inspect::stopped::thread::StoppedThread;
use crate::debuginfo::inspect::values::typed::TypedValue;

/// The view of a value if its type is a library's.
pub(crate) fn recognised(
    thread: &StoppedThread<'_>,
    value: &TypedValue,
    kind: Ref,
    shape: &Shape,
    parts: &Composite,
) -> Option<Recognised> {
    if value.is_raw || parts.is_declaration {
        return None;
    }
    // The C library's types are known by other names only.
    let family = thread.family(value.module, kind).unwrap_or_default();
    let subject = Subject { value, shape, parts, family: &family };
    let seen = match thread.language(value) {
        Language::Rust => rust_view(thread, subject).map(Recognised::from),
        Language::Cpp => cpp_view(thread, subject),
        _ => posix_view(thread, subject).map(Recognised::from),
    };
    match seen {
        Ok(recognised) => Some(recognised),
        Err(UnrecognisedType::Missing(missing)) => Some(View::Missing(missing).into()),
        Err(UnrecognisedType::Layout) => None,
    }
}
