//! C++ types around other values: pairs, optionals, smart pointers, atomics, locks.

use crate::debuginfo::entries::shape::Form;
use crate::debuginfo::inspect::stopped::thread::StoppedThread;
use crate::debuginfo::inspect::values::typed::TypedValue;
use crate::debuginfo::inspect::views::libraries::posix::mutex_state;
use crate::debuginfo::inspect::views::libraries::subject::{
    Recognised, Subject, UnrecognisedType, ViewResult, member_at, unsigned_at,
};
use crate::debuginfo::inspect::views::view::{Field, Fields, Style, View};

pub(super) fn pair(thread: &StoppedThread<'_>, subject: Subject<'_>) -> ViewResult {
    let part =
        |name| Ok::<Field, UnrecognisedType>(Field::value(name, member_at(thread, subject.value, &[name])?));
    Ok(brackets("", vec![part("first")?, part("second")?]))
}

pub(super) fn tuple(thread: &StoppedThread<'_>, subject: Subject<'_>) -> ViewResult {
    let parts = tuple_parts(thread, subject.value)?;
    let fields = parts.into_iter().enumerate();
    let fields = fields.map(|(index, part)| Field::value(format!("<{index}>"), part).unreachable());
    Ok(brackets("", fields.collect()))
}

/// A tuple has its first part, and inherits a tuple of the others.
fn tuple_parts(thread: &StoppedThread<'_>, tuple: &TypedValue) -> ViewResult<Vec<TypedValue>> {
    let mut found = Vec::new();
    let mut here = base_class(thread, tuple, "_Tuple_impl<");
    while let Some(level) = here {
        let head = base_class(thread, &level, "_Head_base<").ok_or(UnrecognisedType::Layout)?;
        found.push(member_at(thread, &head, &["_M_head_impl"])?);
        here = base_class(thread, &level, "_Tuple_impl<").filter(|_| found.len() < 64);
    }
    Ok(found)
}

fn base_class(thread: &StoppedThread<'_>, whole: &TypedValue, name: &str) -> Option<TypedValue> {
    let shape = thread.shape(whole)?;
    let Form::Composite(parts) = &shape.form else { return None };
    let bases = parts.members.iter().filter(|member| member.is_base);
    let mut bases = bases.map(|base| thread.part(whole, base));
    bases.find(|base| {
        let shape = thread.shape(base);
        shape.and_then(|shape| shape.name.clone()).is_some_and(|own| own.starts_with(name))
    })
}

pub(super) fn optional(thread: &StoppedThread<'_>, subject: Subject<'_>) -> ViewResult {
    let payload = member_at(thread, subject.value, &["_M_payload"])?;
    if unsigned_at(thread, &payload, &["_M_engaged"])? == 0 {
        return Ok(View::Leaf("nullopt".to_owned()));
    }
    let value = member_at(thread, &payload, &["_M_payload", "_M_value"])?;
    Ok(brackets("optional", vec![Field::value("value", value).unreachable()]))
}

pub(super) fn variant_view(thread: &StoppedThread<'_>, subject: Subject<'_>) -> ViewResult {
    let index = unsigned_at(thread, subject.value, &["_M_index"])?;
    let index = usize::try_from(index).map_err(|_| UnrecognisedType::Layout)?;
    let Some(argument) = subject.parts.arguments.get(index) else {
        // A variant whose change an exception interrupted has no alternative, and all bits set for its index.
        return if index > 0x7f {
            Ok(View::Leaf("valueless".to_owned()))
        } else {
            Err(UnrecognisedType::Layout)
        };
    };
    let mut here = member_at(thread, subject.value, &["_M_u"])?;
    for _ in 0..index {
        here = member_at(thread, &here, &["_M_rest"])?;
    }
    let storage = member_at(thread, &here, &["_M_first", "_M_storage"])?;
    let value = subject.value.with(argument.kind, storage.location);
    let name = thread.type_name(&value);
    Ok(brackets(&name, vec![Field::value("value", value).unreachable()]))
}

pub(super) fn unique_pointer(thread: &StoppedThread<'_>, subject: Subject<'_>) -> ViewResult<Recognised> {
    let tuple = member_at(thread, subject.value, &["_M_t", "_M_t"])?;
    let pointer = tuple_parts(thread, &tuple)?.into_iter().next().ok_or(UnrecognisedType::Layout)?;
    Ok(Recognised::Pointing(pointer, Vec::new()))
}

pub(super) fn pointer_in(
    thread: &StoppedThread<'_>,
    subject: Subject<'_>,
    path: &[&str],
) -> ViewResult<Recognised> {
    Ok(Recognised::Pointing(member_at(thread, subject.value, path)?, Vec::new()))
}

/// `shared_ptr` and `weak_ptr`.
pub(super) fn shared_pointer(thread: &StoppedThread<'_>, subject: Subject<'_>) -> ViewResult<Recognised> {
    let pointer = member_at(thread, subject.value, &["_M_ptr"])?;
    let block = member_at(thread, subject.value, &["_M_refcount", "_M_pi"])?;
    let is_weak = subject.family.ends_with("weak_ptr");
    if thread.raw(&block)?.0 == 0 {
        return if is_weak {
            Ok(View::Leaf("(empty)".to_owned()).into())
        } else {
            Ok(Recognised::Pointing(pointer, Vec::new()))
        };
    }
    let block = thread.target(&block)?;
    let uses = unsigned_at(thread, &block, &["_M_use_count"])?;
    // All sharing owners hold one weak count together.
    let weak = unsigned_at(thread, &block, &["_M_weak_count"])?.saturating_sub(u64::from(uses > 0));
    if is_weak && uses == 0 {
        return Ok(View::Leaf("(expired)".to_owned()).into());
    }
    let facts = vec![
        Field::words("use_count", "long", uses.to_string()),
        Field::words("weak_count", "long", weak.to_string()),
    ];
    Ok(Recognised::Pointing(pointer, facts))
}

pub(super) fn cpp_atomic(thread: &StoppedThread<'_>, subject: Subject<'_>) -> ViewResult {
    const PATHS: [&[&str]; 5] = [&["_M_base", "_M_i"], &["_M_i"], &["_M_b", "_M_p"], &["_M_p"], &["_M_fp"]];
    let value =
        PATHS.iter().find_map(|path| thread.descend(subject.value, path)).ok_or(UnrecognisedType::Layout)?;
    Ok(View::Same(Box::new(value)))
}

pub(super) fn cpp_mutex(thread: &StoppedThread<'_>, subject: Subject<'_>) -> ViewResult {
    let fields = mutex_state(thread, &member_at(thread, subject.value, &["_M_mutex"])?)?;
    let name = subject.family.trim_start_matches("std::").to_owned();
    Ok(View::Fields(Fields { name, style: Style::Braces, fields }))
}

pub(super) fn thread_handle(thread: &StoppedThread<'_>, subject: Subject<'_>, path: &[&str]) -> ViewResult {
    Ok(View::Leaf(match unsigned_at(thread, subject.value, path)? {
        0 => "no thread".to_owned(),
        handle => format!("thread {handle:#x}"),
    }))
}

fn brackets(name: &str, fields: Vec<Field>) -> View {
    View::Fields(Fields { name: name.to_owned(), style: Style::Brackets, fields })
}
