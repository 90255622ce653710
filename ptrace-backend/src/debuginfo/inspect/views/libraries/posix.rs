//! The C library's types for threads.

use super::subject::{Subject, UnrecognisedType, ViewResult, member_at, unsigned_at};
use crate::debuginfo::inspect::stopped::thread::StoppedThread;
use crate::debuginfo::inspect::values::typed::TypedValue;
use crate::debuginfo::inspect::views::view::{Field, Fields, Style, View};

pub(super) fn posix_view(thread: &StoppedThread<'_>, subject: Subject<'_>) -> ViewResult {
    if thread.is_called(subject.value, "pthread_mutex_t") {
        return Ok(View::Fields(Fields {
            name: "pthread_mutex_t".to_owned(),
            style: Style::Braces,
            fields: mutex_state(thread, subject.value)?,
        }));
    }
    Err(UnrecognisedType::Layout)
}

/// The state of a mutex, with its holder.
pub(super) fn mutex_state(thread: &StoppedThread<'_>, mutex: &TypedValue) -> ViewResult<Vec<Field>> {
    let lock = unsigned_at(thread, mutex, &["__data", "__lock"])?;
    let owner = unsigned_at(thread, mutex, &["__data", "__owner"])?;
    let count = unsigned_at(thread, mutex, &["__data", "__count"])?;
    let mut fields = vec![Field::words("locked", "bool", if lock == 0 { "false" } else { "true" })];
    if owner != 0 {
        fields.push(Field::value("owner", member_at(thread, mutex, &["__data", "__owner"])?));
    }
    if count > 0 {
        fields.push(Field::value("count", member_at(thread, mutex, &["__data", "__count"])?));
    }
    Ok(fields)
}
