//! What the C library has for threads.

use super::{Seen, Subject, Unlike};
use crate::debuginfo::inspect::thread::Thread;
use crate::debuginfo::inspect::typed::Typed;
use crate::debuginfo::inspect::view::{Field, Fields, Style, View};

impl Thread<'_> {
    pub(super) fn posix_view(&self, subject: Subject<'_>) -> Seen {
        if self.is_called(subject.value, "pthread_mutex_t") {
            return Ok(View::Fields(Fields {
                name: "pthread_mutex_t".to_owned(),
                style: Style::Braces,
                fields: self.mutex_state(subject.value)?,
            }));
        }
        Err(Unlike::Layout)
    }

    /// Who holds a mutex.
    pub(super) fn mutex_state(&self, mutex: &Typed) -> Seen<Vec<Field>> {
        let lock = self.unsigned_at(mutex, &["__data", "__lock"])?;
        let owner = self.unsigned_at(mutex, &["__data", "__owner"])?;
        let count = self.unsigned_at(mutex, &["__data", "__count"])?;
        let mut fields = vec![Field::words("locked", "bool", if lock == 0 { "false" } else { "true" })];
        if owner != 0 {
            fields.push(Field::value("owner", self.member_at(mutex, &["__data", "__owner"])?));
        }
        if count > 0 {
            fields.push(Field::value("count", self.member_at(mutex, &["__data", "__count"])?));
        }
        Ok(fields)
    }
}
