//! C++ types around other values: pairs, optionals, smart pointers, atomics, locks.

use super::{Seen, Subject, Unlike};
use crate::debuginfo::inspect::shape::Form;
use crate::debuginfo::inspect::thread::Thread;
use crate::debuginfo::inspect::typed::Typed;
use crate::debuginfo::inspect::view::{Field, Fields, Pointer, Style, View};

impl Thread<'_> {
    pub(super) fn pair(&self, subject: Subject<'_>) -> Seen {
        let part = |name| Ok::<Field, Unlike>(Field::value(name, self.member_at(subject.value, &[name])?));
        Ok(brackets("", vec![part("first")?, part("second")?]))
    }

    pub(super) fn tuple(&self, subject: Subject<'_>) -> Seen {
        let parts = self.tuple_parts(subject.value)?;
        let fields = parts.into_iter().enumerate();
        let fields = fields.map(|(index, part)| Field::value(format!("<{index}>"), part).unreachable());
        Ok(brackets("", fields.collect()))
    }

    /// A tuple has its first part, and inherits a tuple of the others.
    fn tuple_parts(&self, tuple: &Typed) -> Seen<Vec<Typed>> {
        let mut found = Vec::new();
        let mut here = self.base_class(tuple, "_Tuple_impl<");
        while let Some(level) = here {
            let head = self.base_class(&level, "_Head_base<").ok_or(Unlike::Layout)?;
            found.push(self.member_at(&head, &["_M_head_impl"])?);
            here = self.base_class(&level, "_Tuple_impl<").filter(|_| found.len() < 64);
        }
        Ok(found)
    }

    fn base_class(&self, whole: &Typed, name: &str) -> Option<Typed> {
        let shape = self.shape(whole)?;
        let Form::Composite(parts) = &shape.form else { return None };
        let bases = parts.members.iter().filter(|member| member.is_base);
        let mut bases = bases.map(|base| self.part(whole, base));
        bases.find(|base| {
            let shape = self.shape(base);
            shape.and_then(|shape| shape.name.clone()).is_some_and(|own| own.starts_with(name))
        })
    }

    pub(super) fn optional(&self, subject: Subject<'_>) -> Seen {
        let payload = self.member_at(subject.value, &["_M_payload"])?;
        if self.unsigned_at(&payload, &["_M_engaged"])? == 0 {
            return Ok(View::Leaf("nullopt".to_owned()));
        }
        let value = self.member_at(&payload, &["_M_payload", "_M_value"])?;
        Ok(brackets("optional", vec![Field::value("value", value).unreachable()]))
    }

    pub(super) fn variant_view(&self, subject: Subject<'_>) -> Seen {
        let index = self.unsigned_at(subject.value, &["_M_index"])?;
        let index = usize::try_from(index).map_err(|_| Unlike::Layout)?;
        let Some(argument) = subject.parts.arguments.get(index) else {
            // What an exception interrupted has no alternative, and all bits set for its index.
            return if index > 0x7f { Ok(View::Leaf("valueless".to_owned())) } else { Err(Unlike::Layout) };
        };
        let mut here = self.member_at(subject.value, &["_M_u"])?;
        for _ in 0..index {
            here = self.member_at(&here, &["_M_rest"])?;
        }
        let storage = self.member_at(&here, &["_M_first", "_M_storage"])?;
        let value = subject.value.with(argument.kind, storage.contents);
        let name = self.type_name(&value);
        Ok(brackets(&name, vec![Field::value("value", value).unreachable()]))
    }

    pub(super) fn unique_pointer(&self, subject: Subject<'_>) -> Seen {
        let tuple = self.member_at(subject.value, &["_M_t", "_M_t"])?;
        let pointer = self.tuple_parts(&tuple)?.into_iter().next().ok_or(Unlike::Layout)?;
        self.pointing(&pointer, Vec::new())
    }

    pub(super) fn pointer_in(&self, subject: Subject<'_>, path: &[&str]) -> Seen {
        self.pointing(&self.member_at(subject.value, path)?, Vec::new())
    }

    /// `shared_ptr` and `weak_ptr`.
    pub(super) fn shared_pointer(&self, subject: Subject<'_>) -> Seen {
        let pointer = self.member_at(subject.value, &["_M_ptr"])?;
        let block = self.member_at(subject.value, &["_M_refcount", "_M_pi"])?;
        let is_weak = subject.family.ends_with("weak_ptr");
        if self.raw(&block)?.0 == 0 {
            return if is_weak {
                Ok(View::Leaf("(empty)".to_owned()))
            } else {
                self.pointing(&pointer, Vec::new())
            };
        }
        let block = self.target(&block)?;
        let uses = self.unsigned_at(&block, &["_M_use_count"])?;
        // All who share hold one weak count together.
        let weak = self.unsigned_at(&block, &["_M_weak_count"])?.saturating_sub(u64::from(uses > 0));
        if is_weak && uses == 0 {
            return Ok(View::Leaf("(expired)".to_owned()));
        }
        let facts = vec![
            Field::words("use_count", "long", uses.to_string()),
            Field::words("weak_count", "long", weak.to_string()),
        ];
        self.pointing(&pointer, facts)
    }

    /// A smart pointer by the plain one in it.
    fn pointing(&self, pointer: &Typed, facts: Vec<Field>) -> Seen {
        match self.view(pointer) {
            View::Pointer(plain) => Ok(View::Pointer(Pointer { facts, ..plain })),
            _ => Err(Unlike::Layout),
        }
    }

    pub(super) fn cpp_atomic(&self, subject: Subject<'_>) -> Seen {
        const PATHS: [&[&str]; 5] =
            [&["_M_base", "_M_i"], &["_M_i"], &["_M_b", "_M_p"], &["_M_p"], &["_M_fp"]];
        let value = PATHS.iter().find_map(|path| self.descend(subject.value, path)).ok_or(Unlike::Layout)?;
        Ok(View::Same(Box::new(value)))
    }

    pub(super) fn cpp_mutex(&self, subject: Subject<'_>) -> Seen {
        let fields = self.mutex_state(&self.member_at(subject.value, &["_M_mutex"])?)?;
        let name = subject.family.trim_start_matches("std::").to_owned();
        Ok(View::Fields(Fields { name, style: Style::Braces, fields }))
    }

    pub(super) fn thread_handle(&self, subject: Subject<'_>, path: &[&str]) -> Seen {
        Ok(View::Leaf(match self.unsigned_at(subject.value, path)? {
            0 => "no thread".to_owned(),
            handle => format!("thread {handle:#x}"),
        }))
    }
}

fn brackets(name: &str, fields: Vec<Field>) -> View {
    View::Fields(Fields { name: name.to_owned(), style: Style::Brackets, fields })
}
